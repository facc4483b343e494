import { MAX_ID, MAX_RANGE_SIZE, type SegmentStore } from '@leaf-ids/core';
import {
  createSegmentStore,
  createTagStore,
  type DatabaseTarget,
  FIXED_WORKERS,
  type LeafDataSource,
  parseDatabaseUrl,
  SqlWorkerStore,
} from '@leaf-ids/persistence';
import { connect, FAILOVER, lazily } from '../../support/contract/sql-stores';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';
import type { PrivateServer } from '../../support/servers/private-server';

interface DatabaseServer extends PrivateServer {
  createDatabase(): Promise<string>;
}

const STEP = 100;
const GAP_STEPS = 10n;
/** For a tag that never takes more than the largest range of the API. */
const GAP = GAP_STEPS * BigInt(MAX_RANGE_SIZE);

/** What a promotion leaves behind: rows and a record that name a server which is not the one that serves them. */
const PROMOTE = "UPDATE leaf_segment_server SET server = 'the old primary'";

describe.each<[string, () => Promise<DatabaseServer>]>([
  ['MariaDB', startMariadb],
  ['PostgreSQL', startPostgres],
])('a promoted replica on %s', (_name, start) => {
  let server: DatabaseServer;
  let target: DatabaseTarget;
  let dataSource: LeafDataSource;
  let messages: string[];

  beforeAll(async () => (server = await start()));
  afterAll(() => server.stop());
  beforeEach(async () => {
    messages = [];
    target = parseDatabaseUrl(await server.createDatabase());
    dataSource = await connect(target);
    await dataSource.query('DELETE FROM leaf_alloc');
  });
  afterEach(() => dataSource.destroy());

  /** The store of a server that was just started. */
  function makeStore(gapSteps = Number(GAP_STEPS), maxStep = 1000): SegmentStore {
    return createSegmentStore(dataSource, { gapSteps, maxStep, onFailover: (text) => messages.push(text) });
  }

  async function putRows(rows: readonly (readonly [tag: string, maxId: bigint, step: number])[]): Promise<void> {
    const values = rows.map(([tag, maxId, step]) => `('${tag}', ${maxId}, ${step})`).join(', ');
    await dataSource.query(`INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ${values}`);
  }

  async function maxIds(): Promise<Record<string, bigint>> {
    const sql = 'SELECT biz_tag, CAST(max_id AS CHAR(20)) AS max_id FROM leaf_alloc';
    const rows = await dataSource.query<{ biz_tag: string; max_id: string }[]>(sql);
    return Object.fromEntries(rows.map(({ biz_tag, max_id }) => [biz_tag, BigInt(max_id)]));
  }

  it('is no other server while nobody is promoted', async () => {
    await putRows([['a', 1n, STEP]]);
    expect(await makeStore().allocate('a', undefined)).toMatchObject({ from: 1n });
    expect(await makeStore().allocate('a', undefined)).toMatchObject({ from: 101n });
    expect(messages).toStrictEqual([]);
  });

  it('moves every tag forward by the gap, once, whoever sees it first', async () => {
    await putRows([
      ['a', 1n, STEP],
      ['b', 5000n, STEP],
    ]);
    await makeStore().allocate('a', undefined);
    await dataSource.query(PROMOTE);
    const stores = Array.from({ length: 10 }, () => makeStore());
    const ranges = await Promise.all(stores.map((store) => store.allocate('a', undefined)));
    const starts = ranges.map(({ from }) => Number(from)).sort((a, b) => a - b);
    expect(starts).toEqual(Array.from({ length: 10 }, (_, n) => 101 + Number(GAP) + n * STEP));
    expect(await maxIds()).toEqual({ a: 1101n + GAP, b: 5000n + GAP });
    expect(messages).toEqual([expect.stringContaining('the old primary')]);
  });

  it('goes by the largest range that a tag can have taken, whatever was allocated', async () => {
    await putRows([
      ['plain', 1n, STEP],
      ['stepping', 1n, 3_000_000],
      ['growing', 1n, STEP],
      ['shared', 1n, STEP],
    ]);
    await dataSource.query("UPDATE leaf_alloc SET max_step = 4000000 WHERE biz_tag = 'growing'");
    await dataSource.query(
      "UPDATE leaf_alloc SET interleave_of = 2, interleave_remainder = 0, interleave_block = 5000000 WHERE biz_tag = 'shared'",
    );
    await makeStore().allocate('plain', 7);
    await dataSource.query(PROMOTE);
    await makeStore().allocate('plain', 1);
    const gaps = { plain: 7n + GAP + 1n, stepping: 30_000_000n, growing: 40_000_000n, shared: 50_000_000n };
    expect(await maxIds()).toEqual(Object.fromEntries(Object.entries(gaps).map(([tag, gap]) => [tag, 1n + gap])));
  });

  it('moves periods, and tags that have them, to the number after their max at most', async () => {
    const before = {
      plain: 1n,
      bounded: 1n,
      invoice: 1n,
      'invoice@2026': 500n,
      'passed@2026': 10_500n,
      'open@2026': 500n,
    };
    await putRows(Object.entries(before).map(([tag, maxId]) => [tag, maxId, STEP]));
    await dataSource.query("UPDATE leaf_alloc SET last_id = 9999 WHERE biz_tag NOT IN ('plain', 'open@2026')");
    await dataSource.query("UPDATE leaf_alloc SET reset_every = 'yearly' WHERE biz_tag = 'invoice'");
    await makeStore().allocate('plain', 1);
    await dataSource.query(PROMOTE);
    await makeStore().allocate('plain', 1);
    const unbounded = { plain: 3n + GAP, bounded: 1n + GAP, 'open@2026': 500n + GAP };
    expect(await maxIds()).toEqual({
      ...unbounded,
      ...{ invoice: 10_000n, 'invoice@2026': 10_000n, 'passed@2026': 10_500n },
    });
  });

  it('goes by the largest dynamic step of the server that notices', async () => {
    await putRows([['a', 1n, STEP]]);
    await makeStore().allocate('a', 1);
    await dataSource.query(PROMOTE);
    expect(await makeStore(3, 2_000_000).allocate('a', 1)).toMatchObject({ from: 6_000_002n });
  });

  it('leaves servers of the version before what they go by', async () => {
    await putRows([['a', 1n, STEP]]);
    await dataSource.query("INSERT INTO leaf_segment_server (id, server, largest_step) VALUES (1, 'x', 2000)");
    await dataSource.query(PROMOTE);
    await makeStore().allocate('a', 1);
    const largest = async (): Promise<number> => {
      const sql = 'SELECT largest_step FROM leaf_segment_server';
      const [row] = await dataSource.query<{ largest_step: number | string }[]>(sql);
      return Number(row?.largest_step);
    };
    expect(await largest()).toBe(MAX_RANGE_SIZE);
    await dataSource.query('UPDATE leaf_segment_server SET largest_step = 5000000');
    await makeStore().allocate('a', 1);
    expect(await largest()).toBe(5_000_000);
  });

  it('that lacks an earlier move as well moves the tags above it, by what the server has seen', async () => {
    await putRows([
      ['a', 1n, STEP],
      ['b', 500n, STEP],
    ]);
    const store = makeStore();
    await store.allocate('a', undefined);
    const tables = ['leaf_alloc', 'leaf_deleted_tag', 'leaf_segment_server'];
    for (const table of tables) await dataSource.query(`CREATE TABLE replica_${table} AS SELECT * FROM ${table}`);
    await dataSource.query(PROMOTE);
    expect(await store.allocate('b', 10)).toMatchObject({ from: 500n + GAP });
    // Another replica, which was not told of the promotion.
    for (const table of tables) {
      await dataSource.query(`DELETE FROM ${table}`);
      await dataSource.query(`INSERT INTO ${table} SELECT * FROM replica_${table}`);
    }
    await dataSource.query(PROMOTE);
    expect(await store.allocate('b', 10)).toMatchObject({ from: 500n + 2n * GAP });
    expect(messages).toHaveLength(2);
  });

  it('takes nothing back on it', async () => {
    await putRows([['a', 1n, STEP]]);
    const store = makeStore();
    const range = await store.allocate('a', undefined);
    await dataSource.query(PROMOTE);
    expect(await store.giveBack('a', { from: 50n, to: range.to })).toBe(false);
    expect(await maxIds()).toEqual({ a: 101n });
    await store.allocate('a', undefined);
    expect(await store.giveBack('a', { from: 50n, to: range.to })).toBe(false);
  });

  it('moves thousands of tags, and lets no bad row stop it', async () => {
    const rows = Array.from({ length: 5000 }, (_, n) => [`tag-${n}`, BigInt(1 + n), STEP] as const);
    await putRows([...rows, ['bad', -5n, STEP], ['stepless', 1n, 0], ['end', MAX_ID - 3n, STEP]]);
    await makeStore().allocate('tag-0', undefined);
    await dataSource.query(PROMOTE);
    await makeStore().allocate('tag-0', undefined);
    const after = await maxIds();
    expect(after).toMatchObject({ bad: -5n, stepless: 1n + GAP, end: MAX_ID, 'tag-0': 1n + BigInt(STEP) * 2n + GAP });
    expect(rows.filter(([tag, maxId]) => tag !== 'tag-0' && after[tag] !== maxId + GAP)).toStrictEqual([]);
  });

  it('moves what is remembered of deleted tags', async () => {
    await putRows([['a', 1n, STEP]]);
    const store = makeStore();
    const tags = createTagStore(dataSource);
    await tags.create({ tag: 'gone', step: 1, maxId: 700n });
    await tags.remove('gone');
    await store.allocate('a', undefined);
    await dataSource.query(PROMOTE);
    await store.allocate('a', undefined);
    const moved = (await tags.create({ tag: 'gone', step: 1 })).maxId;
    expect(moved).toBeGreaterThanOrEqual(700n + GAP);
  });

  it('goes unnoticed when the gap is 0', async () => {
    await putRows([['a', 1n, STEP]]);
    await makeStore(0).allocate('a', undefined);
    expect(await dataSource.query('SELECT id FROM leaf_segment_server')).toStrictEqual([]);
    // A server with a gap cannot know which server issued these IDs.
    expect(await makeStore().allocate('a', undefined)).toMatchObject({ from: 101n + GAP });
    await dataSource.query(PROMOTE);
    expect(await makeStore(0).allocate('a', undefined)).toMatchObject({ from: 201n + GAP });
  });

  it('is noticed by a server whose record is gone', async () => {
    await putRows([
      ['a', 1n, STEP],
      ['b', 500n, STEP],
    ]);
    const store = makeStore();
    await store.allocate('a', undefined);
    await dataSource.query('DELETE FROM leaf_segment_server');
    expect(await store.allocate('a', undefined)).toMatchObject({ from: 101n + GAP });
    expect(await store.allocate('b', undefined)).toMatchObject({ from: 500n + GAP });
    expect(messages).toEqual([expect.stringContaining('lacks the record')]);
  });

  it('says what to do when there is no table for the record', async () => {
    await putRows([['a', 1n, STEP]]);
    await dataSource.query('DROP TABLE leaf_segment_server');
    const failure: unknown = await makeStore()
      .allocate('a', undefined)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    expect(String((failure as Error).cause)).toContain('set the option migrate to true');
    expect(await createSegmentStore(dataSource, { ...FAILOVER, gapSteps: 0 }).allocate('a', 1)).toBeDefined();
  });
});

it('a trigger on the table does not disturb allocations on MariaDB', async () => {
  const server = await startMariadb();
  try {
    const dataSource = await connect(parseDatabaseUrl(await server.createDatabase()));
    await dataSource.query('CREATE TABLE audit (id bigint AUTO_INCREMENT PRIMARY KEY, tag varchar(128))');
    await dataSource.query('ALTER TABLE audit AUTO_INCREMENT = 777');
    await dataSource.query(
      'CREATE TRIGGER watch AFTER UPDATE ON leaf_alloc FOR EACH ROW INSERT INTO audit (tag) VALUES (NEW.biz_tag)',
    );
    const store = createSegmentStore(dataSource, FAILOVER);
    expect(await store.allocate('leaf-segment-test', undefined)).toMatchObject({ from: 1n, to: 2000n });
    expect(await store.allocate('leaf-segment-test', 5)).toMatchObject({ from: 2001n, to: 2005n });
    await dataSource.destroy();
  } finally {
    await server.stop();
  }
});

it('a MariaDB server that is another one by its server_id is noticed', async () => {
  const server = await startMariadb();
  try {
    const target = parseDatabaseUrl(await server.createDatabase());
    const dataSource = await connect(target);
    const messages: string[] = [];
    const store = createSegmentStore(dataSource, { gapSteps: 10, onFailover: (m) => messages.push(m) });
    await store.allocate('leaf-segment-test', 1);
    await dataSource.query('SET GLOBAL server_id = 4711');
    expect(await store.allocate('leaf-segment-test', 1)).toMatchObject({ from: 2n + GAP });
    expect(messages).toEqual([expect.stringContaining('server_id 4711')]);
    await dataSource.destroy();
  } finally {
    await server.stop();
  }
});

it('a MariaDB server outside of its Galera cluster gives no IDs and no worker IDs', async () => {
  const server = await startMariadb(['--wsrep-on=OFF', '--wsrep-cluster-address=gcomm://127.0.0.1:1']);
  const dataSource = await connect(parseDatabaseUrl(await server.createDatabase()));
  const store = createSegmentStore(dataSource, FAILOVER);
  const workers = new SqlWorkerStore(lazily(dataSource.target), FIXED_WORKERS);
  try {
    const outside = expect.stringContaining('wsrep_on=ON') as string;
    await expect(store.allocate('leaf-segment-test', 1)).rejects.toMatchObject({
      code: 'LEAF_STORE_UNAVAILABLE',
      message: outside,
    });
    await expect(workers.readRegistry()).rejects.toMatchObject({
      code: 'LEAF_REGISTRY_UNREACHABLE',
      cause: { message: outside },
    });
  } finally {
    await workers.close();
    await dataSource.destroy();
    await server.stop();
  }
});
