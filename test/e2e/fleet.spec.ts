import { Agent } from 'node:http';
import { table } from '@leaf-ids/core/internal';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import type { IdRange } from '@leaf-ids/core';
import { migrations } from '@leaf-ids/migrations';
import { whole } from '../support/whole';
import { ensureBuilt } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { text } from '../support/http/http';
import { givenTwice, IssuedIds, runsOf } from '../support/issued-ids';
import { type MariadbServer, startMariadb } from '../support/servers/mariadb';
import { TcpProxy } from '../support/http/tcp-proxy';
import { until } from '../support/until';

const FIRST_TAG = 'leaf-segment-test';
/** Twenty starts share the cores of the machine. */
const START_LIMIT_MS = 120_000;

const servers = new BuiltServers();
const proxies: TcpProxy[] = [];
let mariadb: MariadbServer;
let connection: Connection | undefined;

beforeAll(async () => {
  [mariadb] = await Promise.all([startMariadb(), ensureBuilt()]);
});
afterEach(async () => {
  await servers.end();
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  connection?.destroy();
  connection = undefined;
});
afterAll(() => mariadb.stop());

async function query(sql: string, parameters: unknown[] = []): Promise<RowDataPacket[]> {
  const [rows] = await connection!.query<RowDataPacket[]>(sql, parameters);
  return rows;
}

/** Starts them all at once, without waiting. */
async function spawnFleet(count: number, url: string): Promise<BuiltServer[]> {
  const directories = await Promise.all(Array.from({ length: count }, () => servers.makeDirectory()));
  const env = {
    LEAF_DATABASE_URL: url,
    LEAF_SNOWFLAKE_ENABLED: 'false',
    LEAF_LOG_FORMAT: 'json',
    // Twenty servers on two cores may be slow; what counts here is what they answer.
    LEAF_SEGMENT_WAIT_MS: '30000',
  };
  return directories.map((directory) => servers.spawn(directory, env));
}

async function startFleet(count: number, url: string): Promise<BuiltServer[]> {
  const fleet = await spawnFleet(count, url);
  await Promise.all(fleet.map(ready));
  return fleet;
}

/**
 * Starts them on a database that is not there until each one has knocked. Starting takes far longer than making the
 * tables: without that, the first one would be done before the second one comes.
 */
async function startTogether(count: number, url: string): Promise<BuiltServer[]> {
  const proxy = await TcpProxy.start(mariadb.port);
  proxies.push(proxy);
  proxy.blackhole();
  const fleet = await spawnFleet(count, url.replace(`:${mariadb.port}/`, `:${proxy.port}/`));
  const waits = ({ stdout }: BuiltServer): boolean => stdout.includes('"level":"warn"');
  await until('all waiting for the database', () => fleet.every(waits), START_LIMIT_MS);
  const begun = performance.now();
  proxy.heal();
  await Promise.all(fleet.map(ready));
  console.log(`${count} servers were ready ${whole(performance.now() - begun)} ms after the database`);
  return fleet;
}

async function ready(server: BuiltServer): Promise<void> {
  await until(
    'start line',
    () => {
      if (!server.running) throw new Error(`A start failed:\n${server.stdout}${server.stderr}`);
      return server.stdout.includes('Listening on');
    },
    START_LIMIT_MS,
  );
  expect(JSON.parse(await text(server.port, '/health/ready'))).toMatchObject({ status: 'ok' });
}

type Ask = (port: number, tag: string, agent: Agent) => Promise<IdRange[]>;

const get: Ask = async (port, tag, agent) => {
  const id = BigInt(await text(port, `/api/segment/get/${tag}`, { agent }));
  return [{ from: id, to: id }];
};

function batch(size: number): Ask {
  return async (port, tag, agent) => {
    const body = await text(port, `/api/segment/batch/${tag}?size=${size}`, { agent });
    const { ids } = JSON.parse(body) as { ids: string[] };
    if (ids.length !== size) throw new Error(`A batch of ${size} came with ${ids.length} IDs`);
    return runsOf(ids.map(BigInt));
  };
}

function range(size: number): Ask {
  return async (port, tag, agent) => {
    const body = await text(port, `/api/segment/range/${tag}?size=${size}`, { agent });
    const { ranges } = JSON.parse(body) as { ranges: { from: string; to: string }[] };
    return ranges.map(({ from, to }) => ({ from: BigInt(from), to: BigInt(to) }));
  };
}

/** What a server leaves in a database that was empty; how far `max_id` came is left out. */
async function describeDatabase(url: string): Promise<unknown> {
  connection?.destroy();
  connection = await createConnection(url);
  const own = 'table_schema = DATABASE()';
  return {
    columns: await query(
      `SELECT table_name, column_name, column_type, is_nullable, column_default, column_key, extra, collation_name
       FROM information_schema.columns WHERE ${own} ORDER BY table_name, ordinal_position`,
    ),
    indexes: await query(
      `SELECT table_name, index_name, non_unique, seq_in_index, column_name
       FROM information_schema.statistics WHERE ${own} ORDER BY table_name, index_name, seq_in_index`,
    ),
    tags: await query('SELECT biz_tag, step, description FROM leaf_alloc'),
    migrations: await query('SELECT timestamp, name FROM leaf_migrations ORDER BY id'),
  };
}

it('20 servers that start at once on an empty database make one schema and give no ID twice', async () => {
  const [alone, shared] = [await mariadb.createDatabase(), await mariadb.createDatabase()];
  await startFleet(1, alone);
  const fleet = await startTogether(20, shared);

  const issued = fleet.map(() => new IssuedIds());
  const callers = fleet.map(async ({ port }, index) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const asks = Array.from({ length: 40 }, (_, call) => [get, batch(30), range(200)][call % 3]!);
    await Promise.all(asks.map((ask) => issued[index]!.book(() => ask(port, FIRST_TAG, agent))));
    agent.destroy();
  });
  await Promise.all(callers);
  const ranges = issued.flatMap((ids) => ids.ranges);
  expect(givenTwice(ranges)).toStrictEqual([]);
  expect(ranges.reduce((sum, { from, to }) => sum + to - from + 1n, 0n)).toBe(20n * (14n + 13n * 30n + 13n * 200n));

  const expected = await describeDatabase(alone);
  const found = await describeDatabase(shared);
  expect(found).toEqual(expected);
  expect(found).toMatchObject({ tags: [{ biz_tag: FIRST_TAG }] });
  expect(await query('SELECT COUNT(*) AS count, COUNT(DISTINCT name) AS names FROM leaf_migrations')).toEqual([
    { count: migrations.length, names: migrations.length },
  ]);
  const [row] = await query('SELECT CAST(max_id AS CHAR) AS max_id FROM leaf_alloc');
  const highest = ranges.reduce((most, { to }) => (to > most ? to : most), 0n);
  expect(BigInt(String(row?.max_id))).toBeGreaterThan(highest);
});

describe('three servers and one tag', () => {
  const TAG = 'fleet';
  const STEP = 100;
  const WANTED = 1_000_000;
  const CONNECTIONS = 4;
  const TURN: readonly Ask[] = [get, batch(100), get, get, range(400), get, get];

  interface Update {
    /** IDs that the database had given before and with this update. */
    readonly before: number;
    readonly after: number;
  }

  /** From now on the database keeps what each update replaces. */
  async function keepHistory(): Promise<void> {
    await query('ALTER TABLE leaf_alloc ADD SYSTEM VERSIONING');
    await query('INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES (?, 1, ?)', [TAG, STEP]);
  }

  async function updatesSeen(): Promise<Update[]> {
    const rows = await query('SELECT max_id FROM leaf_alloc FOR SYSTEM_TIME ALL WHERE biz_tag = ? ORDER BY max_id', [
      TAG,
    ]);
    const ends = rows.map((row) => Number(row.max_id) - 1);
    return ends.slice(1).map((after, index) => ({ before: ends[index]!, after }));
  }

  /** IDs so far, doubled from row to row; what they cost. */
  function describeUpdates(updates: readonly Update[]): string {
    const rows: string[][] = [];
    const total = updates.at(-1)!.after;
    for (let ids = 1000; ids / 2 < total; ids *= 2) {
      const reached = updates.findIndex(({ after }) => after >= Math.min(ids, total));
      const { before, after } = updates[reached]!;
      const fixed = Math.ceil(after / STEP);
      rows.push([whole(after), whole(reached + 1), whole(after - before), whole(fixed)]);
    }
    return table(['IDs so far', 'updates so far', 'size of the last', `updates with steps of ${STEP}`], rows).join(
      '\n',
    );
  }

  async function load(port: number, issued: IssuedIds, wanted: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    let count = 0;
    const caller = async (_: unknown, first: number): Promise<void> => {
      for (let call = first; count < wanted; call++) {
        const ask = TURN[call % TURN.length]!;
        const came = await issued.book(() => ask(port, TAG, agent));
        count += came;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, caller));
    agent.destroy();
  }

  it('1,000,000 IDs under load: none twice, ascending per server, with fewer updates as steps double', async () => {
    const url = await mariadb.createDatabase();
    const fleet = await startFleet(3, url);
    connection = await createConnection(url);
    await keepHistory();

    const issued = fleet.map(() => new IssuedIds());
    const begun = performance.now();
    await Promise.all(fleet.map(({ port }, index) => load(port, issued[index]!, WANTED / 3)));
    const seconds = (performance.now() - begun) / 1000;

    const ranges = issued.flatMap((ids) => ids.ranges);
    const count = ranges.reduce((sum, { from, to }) => sum + Number(to - from) + 1, 0);
    const updates = await updatesSeen();
    console.log(`${whole(count)} IDs in ${seconds.toFixed(1)} s\n${describeUpdates(updates)}`);
    expect(count).toBeGreaterThanOrEqual(WANTED);
    expect(givenTwice(ranges)).toStrictEqual([]);
    expect(issued.flatMap(({ descents }) => descents)).toStrictEqual([]);
    expect(issued.map((ids) => ids.ranges.length > 1000)).toEqual([true, true, true]);

    const taken = updates.at(-1)!.after;
    expect(ranges.filter(({ to }) => to > BigInt(taken))).toStrictEqual([]);
    const firstTenth = updates.filter(({ after }) => after <= taken / 10).length;
    expect(updates.length - firstTenth).toBeLessThan(firstTenth);
    expect(updates.length).toBeLessThan(count / STEP / 50);
  });
});
