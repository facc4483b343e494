import { setImmediate as turn } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { MAX_RANGE_SIZE } from '@leaf-ids/core';
import {
  createSegmentStore,
  createTagStore,
  type DatabaseTarget,
  type LeafDataSource,
  sharedTarget,
  loadSqlite,
  parseDatabaseUrl,
  type SqliteConnection,
} from '@leaf-ids/persistence';
import { connect, connectAsServer, FAILOVER } from '../../support/contract/sql-stores';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';
import { stopwatch } from '../../support/starvation';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';

const TAG = 'leaf-segment-test';
/** The limits of a statement and of a new connection, and as much for all else; a large table may be moved for 60 s. */
const BOUND_MS = 3 * 2000;
const LOCKED = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";

interface Engine {
  readonly type: 'mysql' | 'postgres';
  /** SQL for the sessions that wait for a row. */
  readonly waiting: string;
  /** SQL for the sessions in which the move of a failover waits for a row. */
  readonly moving: string;
}

const ENGINES: readonly [string, Engine][] = [
  [
    'MariaDB',
    {
      type: 'mysql',
      waiting: "SELECT 1 FROM information_schema.processlist WHERE info LIKE 'SELECT biz_tag%FOR UPDATE%'",
      moving: "SELECT 1 FROM information_schema.processlist WHERE info LIKE 'UPDATE leaf_alloc%'",
    },
  ],
  ['PostgreSQL', { type: 'postgres', waiting: LOCKED, moving: LOCKED }],
];

describe.each(ENGINES)('connections to %s', (_, { type, waiting, moving }) => {
  let server: Awaited<ReturnType<typeof startMariadb>> | Awaited<ReturnType<typeof startPostgres>>;
  let proxy: TcpProxy;
  let url: string;
  /** Over the proxy. */
  let dataSource: LeafDataSource;
  /** Another way to the rows. */
  let admin: LeafDataSource;

  beforeAll(async () => {
    server = await (type === 'mysql' ? startMariadb() : startPostgres());
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.createDatabase();
    admin = await connect(parseDatabaseUrl(url));
    await admin.query("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('other', 1, 10)");
    proxy = await TcpProxy.start(server.port);
    dataSource = await connectAsServer(through());
  });
  afterEach(async () => {
    await dataSource.destroy();
    await admin.destroy();
    await proxy.stop();
  });

  function through(user?: string): DatabaseTarget {
    const target = new URL(url.replace(`:${server.port}/`, `:${proxy.port}/`));
    if (user !== undefined) [target.username, target.password] = [user, 'x'];
    return parseDatabaseUrl(target.href);
  }

  /** Until it is released, nobody else changes the row of the tag. */
  async function lock(tag: string): Promise<() => Promise<void>> {
    const runner = admin.createQueryRunner();
    await runner.startTransaction();
    await runner.query(`SELECT * FROM leaf_alloc WHERE biz_tag = '${tag}' FOR UPDATE`);
    return async () => {
      await runner.rollbackTransaction();
      await runner.release();
    };
  }

  it('that died without a word are replaced, all of them after one failure', async () => {
    const store = createSegmentStore(dataSource, FAILOVER);
    await Promise.all(Array.from({ length: 5 }, () => store.allocate(TAG, 10)));
    expect(proxy.loseConnections()).toBeGreaterThanOrEqual(5);
    let failures = 0;
    for (let i = 0; i < 5; i++) await store.allocate(TAG, 10).catch(() => failures++);
    expect(failures).toBeLessThanOrEqual(1);
  });

  it('are not handed on with a transaction that had no end', async () => {
    const store = createSegmentStore(dataSource, FAILOVER);
    const unlock = await lock(TAG);
    const change = createTagStore(dataSource).change(TAG, { description: 'x' });
    const changed = expect(change).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    await until(
      'the transaction that waits for the row',
      async () => (await admin.query<unknown[]>(waiting)).length > 0,
    );
    proxy.blackhole('answers');
    await changed;
    await unlock();
    proxy.heal();
    const taken: bigint[] = [];
    await until('the first range', () =>
      store.allocate(TAG, 10).then(
        ({ from }) => taken.push(from),
        () => false,
      ),
    );
    for (let i = 0; i < 5; i++) taken.push((await store.allocate(TAG, 10)).from);
    await until('no transaction that holds the row', () =>
      admin.query('SELECT 1 FROM leaf_alloc FOR UPDATE NOWAIT').then(
        () => true,
        () => false,
      ),
    );
    const next = await createSegmentStore(admin, FAILOVER).allocate(TAG, 10);
    expect([...taken, next.from].every((from, i, all) => i === 0 || from > (all[i - 1] ?? 0n))).toBe(true);
    expect(next.from).toBe((taken.at(-1) ?? 0n) + 10n);
  });

  it('hold allocations up for one statement when an answer to the move of a failover is lost', async () => {
    const moves: string[] = [];
    const store = createSegmentStore(dataSource, { ...FAILOVER, onFailover: (message) => moves.push(message) });
    const { to } = await store.allocate(TAG, 10);
    await admin.query("UPDATE leaf_segment_server SET server = 'the old primary'");
    const unlock = await lock('other');
    const time = stopwatch();
    const refused = expect(store.allocate(TAG, 10)).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    await until('the move that waits for a row', async () => (await admin.query<unknown[]>(moving)).length > 0);
    proxy.blackhole('answers');
    await unlock();
    await refused;
    proxy.heal();
    const { from } = await until('a range', () => store.allocate(TAG, 10).catch(() => undefined));
    expect(from).toBe(to + 1n + BigInt(FAILOVER.gapSteps * MAX_RANGE_SIZE));
    expect(moves).toHaveLength(1);
    expect(time()).toBeLessThan(BOUND_MS);
  });

  it('carry a give-back out once, though its answer is lost', async () => {
    const store = createSegmentStore(dataSource, FAILOVER);
    const other = createSegmentStore(admin, FAILOVER);
    const mine = await store.allocate(TAG, 100);
    proxy.blackhole('answers');
    const givenBack = store.giveBack(TAG, mine).catch(() => false);
    await until('the give-back', async () => (await createTagStore(admin).find(TAG))?.maxId === mine.from);
    const taken = await other.allocate(TAG, 100);
    proxy.cut();
    proxy.heal();
    await givenBack;
    expect((await other.allocate(TAG, 100)).from).toBe(taken.to + 1n);
  });

  it('of other tags go on while a row is locked', async () => {
    const store = createSegmentStore(dataSource, FAILOVER);
    // The first allocation of a tag inserts its record, and waits in MySQL for one that has locked the gap of another.
    await store.allocate('other', 10);
    const unlock = await lock(TAG);
    const state = { over: false };
    const stuck = Array.from({ length: 3 }, async () => {
      // A turn after each call: those that fail at once would leave the event loop none, and no test would end.
      while (!state.over) {
        await store.allocate(TAG, 10).catch(() => undefined);
        await turn();
      }
    });
    try {
      for (let i = 0; i < 300; i++) await store.allocate('other', 10);
    } finally {
      state.over = true;
      await unlock();
      await Promise.all(stuck);
    }
    await expect(store.allocate(TAG, 10)).resolves.toBeDefined();
  });

  it('are not waited for by allocations whose time is up', async () => {
    const store = createSegmentStore(dataSource, FAILOVER);
    await store.allocate(TAG, 10);
    proxy.blackhole();
    const calls = Array.from({ length: 100 }, () => store.allocate('other', 10));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toStrictEqual([]);
    proxy.heal();
    await until('an answer', () =>
      store.allocate(TAG, 10).then(
        () => true,
        () => false,
      ),
    );
    const taken = await createTagStore(admin).find('other');
    // What was sent on the few connections may have been carried out; what waited for one was not sent.
    expect(taken?.maxId).toBeLessThanOrEqual(1n + 16n * 10n);
  });

  it('that lead to a server which takes no writes any more are replaced', async () => {
    const other = await (type === 'mysql' ? startMariadb(['--server-id=2']) : startPostgres());
    const name = new URL(url).pathname.slice(1);
    const asUser = through('leaf');
    let used: LeafDataSource | undefined;
    try {
      await other.query(`CREATE DATABASE ${name}`);
      for (const each of [server, other]) await each.query(createUser(name));
      await (await connect(parseDatabaseUrl(url.replace(`:${server.port}/`, `:${other.port}/`)))).destroy();
      used = await connectAsServer(asUser);
      const store = createSegmentStore(used, { gapSteps: 10, onFailover: () => undefined });
      await store.allocate(TAG, 10);
      await setReadOnly(true);
      proxy.retarget(other.port);
      await expect(store.allocate(TAG, 10)).resolves.toBeDefined();
    } finally {
      await setReadOnly(false);
      await used?.destroy();
      await other.stop();
    }
  });

  function createUser(database: string): string {
    return type === 'mysql'
      ? `CREATE USER leaf@'127.0.0.1' IDENTIFIED BY 'x'; GRANT ALL ON ${database}.* TO leaf@'127.0.0.1'`
      : `CREATE ROLE leaf LOGIN SUPERUSER PASSWORD 'x'`;
  }

  async function setReadOnly(on: boolean): Promise<void> {
    if (type === 'mysql') {
      await server.query(`SET GLOBAL read_only = ${on ? 1 : 0}`);
    } else {
      await server.query(`ALTER SYSTEM SET default_transaction_read_only = ${on ? 'on' : 'off'}`);
      await server.query('SELECT pg_reload_conf()');
    }
  }

  describe('of an application', () => {
    let host: DataSource;
    let lent: LeafDataSource;

    beforeEach(async () => {
      host = await new DataSource({ type, url, poolSize: 2 }).initialize();
      lent = await connect(sharedTarget(host));
    });
    afterEach(async () => {
      await lent.destroy();
      await host.destroy();
    });

    it('take no allocation into a transaction that is rolled back, whatever carries its statements there', async () => {
      const runner = host.createQueryRunner();
      await runner.startTransaction();
      // As libraries do that give a transaction to every statement of a request.
      host.query = (sql: string, parameters?: unknown[]) => runner.query(sql, parameters as string[]);
      host.createQueryRunner = () => runner;
      const store = createSegmentStore(lent, FAILOVER);
      const inside = await store.allocate(TAG, 10);
      await runner.rollbackTransaction();
      expect((await createSegmentStore(admin, FAILOVER).allocate(TAG, 10)).from).toBe(inside.to + 1n);
      await runner.release();
    });

    it('may be given back with an open transaction', async () => {
      const runner = host.createQueryRunner();
      await runner.startTransaction();
      await runner.query('SELECT 1');
      await runner.release();
      const store = createSegmentStore(lent, FAILOVER);
      const taken = [await store.allocate(TAG, 10), await store.allocate(TAG, 10)];
      expect((await createSegmentStore(admin, FAILOVER).allocate(TAG, 10)).from).toBe((taken[1]?.to ?? 0n) + 1n);
    });

    it('may all be in use by callers who wait for IDs', async () => {
      const store = createSegmentStore(lent, FAILOVER);
      const work = Array.from({ length: 8 }, () =>
        host.transaction(async (manager) => {
          await manager.query('SELECT 1');
          return store.allocate(TAG, 10);
        }),
      );
      const starts = (await Promise.all(work)).map(({ from }) => from);
      expect(new Set(starts).size).toBe(8);
    });

    it('are left to the application while a row is locked', async () => {
      const store = createSegmentStore(lent, FAILOVER);
      const unlock = await lock(TAG);
      const stuck = Array.from({ length: 20 }, () => store.allocate(TAG, 10).catch(() => undefined));
      for (let i = 0; i < 50; i++) expect(await host.query('SELECT 1')).toHaveLength(1);
      await unlock();
      await Promise.all(stuck);
    });
  });
});

describe('A description in a server of another character set', () => {
  it.each([
    ['the server', ['--character-set-server=gbk', '--skip-character-set-client-handshake']],
    ['init_connect', ['--init-connect=SET NAMES gbk']],
  ])('that %s sets is text and no SQL', async (_, options) => {
    const server = await startMariadb(options);
    try {
      await server.query(
        "CREATE USER leaf@'127.0.0.1' IDENTIFIED BY 'x'; CREATE DATABASE leaf CHARACTER SET utf8mb4; GRANT ALL ON leaf.* TO leaf@'127.0.0.1'",
      );
      const dataSource = await connect(parseDatabaseUrl(`mysql://leaf:x@127.0.0.1:${server.port}/leaf`));
      try {
        const tags = createTagStore(dataSource);
        await tags.create({ tag: 'victim', step: 10, maxId: 7000n });
        await tags.create({ tag: 'order', step: 10 });
        const description = "漢', 0x31), step = 10 WHERE biz_tag = 0x31; UPDATE leaf_alloc SET max_id = 1; COMMIT; -- ";
        expect((await tags.change('order', { description })).after.description).toBe(description);
        expect(await tags.find('victim')).toMatchObject({ maxId: 7000n });
      } finally {
        await dataSource.destroy();
      }
    } finally {
      await server.stop();
    }
  });
});

describe('An SQLite file that another process writes to', () => {
  let directory: string;
  let dataSource: LeafDataSource;
  let other: SqliteConnection;

  beforeEach(async () => {
    directory = await makeDataDirectory();
    const target = parseDatabaseUrl(`sqlite:${directory}/leaf.sqlite`);
    await (await connect(target)).destroy();
    dataSource = await connectAsServer(target);
    other = new (await loadSqlite())(`${directory}/leaf.sqlite`);
  });
  afterEach(async () => {
    other.close();
    await dataSource.destroy();
    await removeDataDirectory(directory);
  });

  const maxId = (): unknown => other.prepare(`SELECT CAST(max_id AS TEXT) AS max FROM leaf_alloc`).all();

  it('is waited for without stopping the event loop', async () => {
    other.exec('BEGIN IMMEDIATE');
    const allocation = createSegmentStore(dataSource, FAILOVER).allocate(TAG, 10);
    // Only turns of this thread end the lock: a call that stood still would fail.
    for (let i = 0; i < 100; i++) await turn();
    other.exec('COMMIT');
    expect(await allocation).toMatchObject({ from: 1n, to: 10n });
  });

  it('keeps what is written between a refusal and its repetition', async () => {
    const store = createSegmentStore(dataSource, FAILOVER);
    other.exec('BEGIN IMMEDIATE');
    const changed = createTagStore(dataSource).change(TAG, { description: 'x' });
    for (let i = 0; i < 10; i++) await turn();
    other.exec('COMMIT');
    const first = await store.allocate(TAG, 10);
    expect(maxId()).toEqual([{ max: String(first.to + 1n) }]);
    await changed;
    expect((await store.allocate(TAG, 10)).from).toBe(first.to + 1n);
  });

  it('is left without an open transaction by a change that fails', async () => {
    other.exec(`CREATE TRIGGER refuse BEFORE UPDATE ON leaf_alloc BEGIN SELECT RAISE(ABORT, 'no'); END`);
    await expect(createTagStore(dataSource).change(TAG, { description: 'x' })).rejects.toThrow();
    other.exec('DROP TRIGGER refuse');
    const { to } = await createSegmentStore(dataSource, FAILOVER).allocate(TAG, 10);
    expect(maxId()).toEqual([{ max: String(to + 1n) }]);
  });
});
