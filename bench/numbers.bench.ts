import { setTimeout as sleep } from 'node:timers/promises';
import { createPool, type RowDataPacket } from 'mysql2/promise';
import { Pool } from 'pg';
import { Numbers, SystemClock, type TransactionStatement } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { openPersistence } from '@leaf-ids/persistence';
import { runPart } from './harness';
import { Sandbox } from './http/sandbox';
import { atLeast, atMost, type Target } from './report/figures';
import { describeRows, type Issued, measureRows, type Row, rowFigures } from './rows';
import { startMariadb, startPostgres } from './services';

const DATABASES = { mariadb: startMariadb, postgres: startPostgres };
const TAG = 'invoice';
const CALLERS = 64;
const BATCH = 100;
const BATCH_CALLERS = 8;
const KEYS_A_CALL = 1000;
/** Invoices at the same time, each a transaction. */
const INVOICES = 50;

/** Of MariaDB, for a lock that the last invoice has to wait for: 250 s. PostgreSQL has no such limit. */
const LOCK_WAIT_SECONDS = 600;

/** Runs work in a transaction of its own connection. */
type InTransaction = (work: (statement: TransactionStatement) => Promise<void>) => Promise<void>;

interface World {
  readonly numbers: Numbers;
  readonly inTransaction: InTransaction;
}

interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  /** Of an invoicing transaction before its number is due. */
  readonly invoiceMs: number;
  readonly audited: number;
}

const PLANS = {
  full: { rounds: 5, seconds: 4, invoiceMs: 5000, audited: Number(process.env.AUDITED ?? 1_000_000) },
  quick: { rounds: 3, seconds: 1, invoiceMs: 200, audited: 20_000 },
};

runPart('numbers', PLANS, async (plan: Plan) => {
  const sandbox = new Sandbox();
  const rows: (Row & { readonly wanted?: number })[] = [];
  const worlds = new Map<string, World>();
  for (const [name, start] of Object.entries(DATABASES)) {
    const world = await open(await start(sandbox));
    worlds.set(name, world);
    const counter = `${name}: SELECT … FOR UPDATE until the commit`;
    rows.push({ name: counter, run: inLoops(CALLERS, 1, (key) => countUp(world, key)) });
    rows.push({
      ...{ name: `${name}: one number a call`, beside: counter, wanted: 2000 },
      run: inLoops(CALLERS, 1, (key) => world.numbers.issue(TAG, [key], 'bench')),
    });
    rows.push({
      ...{ name: `${name}: ${BATCH} numbers a call`, beside: counter, wanted: 10_000 },
      run: inLoops(BATCH_CALLERS, BATCH, (key) => world.numbers.issue(TAG, keysOf(key, BATCH), 'bench')),
    });
  }
  const measured = await measureRows(rows, plan);
  const targets: Target[] = rows.flatMap(({ name, wanted }, index) =>
    wanted === undefined ? [] : [atLeast(name, measured[index]?.rate.median, wanted, 'numbers/s')],
  );
  const lines: string[] = [];
  const seconds = plan.invoiceMs / 1000;
  for (const [name, world] of worlds) {
    const late = await invoiceAll(world, plan.invoiceMs, 'commit');
    lines.push(`${name}: ${INVOICES} invoices of ${seconds} s at once, drawn at the commit: ${late.toFixed(1)} s`);
    targets.push(atMost(`${name}: invoices drawn at the commit`, late, 1.4 * seconds, 's'));
  }
  // Two databases at the same time: nearly all of it is waiting.
  const early = [...worlds].map(async ([name, world]) => {
    const time = await invoiceAll(world, plan.invoiceMs, 'begin');
    lines.push(`${name}: the same with the row locked from the begin: ${time.toFixed(1)} s`);
  });
  await Promise.all(early);
  for (const [name, { numbers }] of worlds) lines.push(await auditOf(name, numbers, plan.audited));
  const text = `${plan.rounds} rounds of ${plan.seconds} s, one process.\n\n${describeRows(measured)}\n\n${lines.join('\n')}`;
  return { text, targets, figures: rowFigures(measured), details: { rows: measured, lines } };
});

async function open(url: string): Promise<World> {
  const persistence = await openPersistence({ url, migrate: true });
  if (persistence === undefined) throw new Error('There is no database.');
  for (const tag of [TAG, 'audited']) await persistence.tags.create({ tag, step: 1, order: 'gapless' });
  const inTransaction = url.startsWith('mysql') ? mysqlTransactions(url) : postgresTransactions(url);
  await inTransaction(async (statement) => {
    await statement('CREATE TABLE counter (id int PRIMARY KEY, number bigint NOT NULL)');
    await statement('CREATE TABLE document (id varchar(64) PRIMARY KEY, number bigint NOT NULL)');
    await statement('INSERT INTO counter VALUES (1, 0)');
  });
  const numbers = new Numbers(persistence.numbers, new SystemClock(), systemRandom, { waitMs: 60_000 });
  await numbers.watch();
  return { numbers, inTransaction };
}

function mysqlTransactions(url: string): InTransaction {
  const pool = createPool({ uri: url, connectionLimit: CALLERS });
  pool.on('connection', (connection) => {
    void connection.query(`SET SESSION innodb_lock_wait_timeout = ${LOCK_WAIT_SECONDS}`);
  });
  return async (work) => {
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    await work(
      async <Rows>(sql: string, values: unknown[] = []) =>
        (await connection.query<RowDataPacket[]>(sql.replaceAll(/\$\d/g, '?'), values))[0] as Rows,
    );
    await connection.commit();
    connection.release();
  };
}

function postgresTransactions(url: string): InTransaction {
  const pool = new Pool({ connectionString: url, max: CALLERS });
  return async (work) => {
    const client = await pool.connect();
    await client.query('BEGIN');
    await work(async <Rows>(sql: string, values: unknown[] = []) => (await client.query(sql, values)).rows as Rows);
    await client.query('COMMIT');
    client.release();
  };
}

/** What many programs do: the row of the counter stays locked until the document is committed. */
function countUp({ inTransaction }: World, key: string, ms = 0): Promise<void> {
  return inTransaction(async (statement) => {
    const [row] = await statement<{ number: number | string }[]>('SELECT number FROM counter WHERE id = 1 FOR UPDATE');
    const number = Number(row?.number) + 1;
    await statement('UPDATE counter SET number = $1 WHERE id = 1', [number]);
    if (ms > 0) await sleep(ms);
    await statement('INSERT INTO document (id, number) VALUES ($1, $2)', [key, number]);
  });
}

/** @param when the number is drawn */
async function invoiceAll(world: World, ms: number, when: 'begin' | 'commit'): Promise<number> {
  const startedAt = performance.now();
  const invoice = async (index: number): Promise<void> => {
    const key = `invoice ${when} ${index}`;
    if (when === 'begin') return countUp(world, key, ms);
    await world.inTransaction(async (statement) => {
      await statement('INSERT INTO document (id, number) VALUES ($1, 0)', [key]);
      await sleep(ms);
      const [answer] = await world.numbers.issueWithin(statement, TAG, [key], 'bench');
      await statement('UPDATE document SET number = $1 WHERE id = $2', [answer?.number.number ?? null, key]);
    });
  };
  await Promise.all(Array.from({ length: INVOICES }, (_, index) => invoice(index)));
  return (performance.now() - startedAt) / 1000;
}

async function auditOf(name: string, numbers: Numbers, count: number): Promise<string> {
  for (let from = 0; from < count; from += 2 * KEYS_A_CALL) {
    const calls = [from, from + KEYS_A_CALL].map((at) =>
      numbers.issue('audited', keysOf(String(at), KEYS_A_CALL), 'bench'),
    );
    await Promise.all(calls);
  }
  const startedAt = performance.now();
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().heapUsed)), 50);
  const { intact, contiguous, last } = await numbers.audit('audited');
  clearInterval(watch);
  if (!intact || !contiguous) throw new Error(`${name}: the audit found a fault`);
  const seconds = (performance.now() - startedAt) / 1000;
  return `${name}: audit of ${last} numbers: ${seconds.toFixed(1)} s, ${Math.round(most / 2 ** 20)} MB of heap at most`;
}

function keysOf(key: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${key}.${index}`);
}

let runs = 0;

/** Closed loops that take `count` numbers with each call, for keys that nobody has used. */
function inLoops(callers: number, count: number, call: (key: string) => Promise<unknown>) {
  return async (seconds: number): Promise<Issued> => {
    const run = runs++;
    const startedAt = performance.now();
    let ids = 0;
    const loop = async (caller: number): Promise<void> => {
      for (let turn = 0; performance.now() < startedAt + seconds * 1000; turn++) {
        await call(`${run}.${caller}.${turn}`);
        ids += count;
      }
    };
    await Promise.all(Array.from({ length: callers }, (_, caller) => loop(caller)));
    return { ids, seconds: (performance.now() - startedAt) / 1000 };
  };
}
