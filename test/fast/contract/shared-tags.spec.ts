import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { systemRandom } from '@leaf-ids/core/internal';
import { checkDatabases, parseDatabaseUrl } from '@leaf-ids/persistence';
import { clock, connect } from '../../support/contract/sql-stores';
import { REFUSED } from '../../support/http/refusal';
import { type ShardedDatabases, shardedDatabases } from '../../support/servers/shards';

const ASSIGNED = { order: 'a' };

describe('an interleaved tag over several databases', () => {
  let directory: string;
  let urls: Record<string, string>;
  const opened: ShardedDatabases[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-shared-'));
    urls = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, `sqlite:${join(directory, name)}.sqlite`]));
  });
  afterEach(async () => {
    for (const { shards } of opened.splice(0)) await shards.close();
    await rm(directory, { recursive: true });
  });

  async function startServer(names = Object.keys(urls)): Promise<ShardedDatabases> {
    const databases = shardedDatabases(Object.fromEntries(names.map((name) => [name, urls[name]!])), ASSIGNED);
    opened.push(databases);
    await databases.shards.start();
    return databases;
  }
  async function execute<Rows>(name: string, sql: string): Promise<Rows> {
    const dataSource = await connect(parseDatabaseUrl(urls[name]!));
    const rows = await dataSource.query<Rows>(sql);
    await dataSource.destroy();
    return rows;
  }
  async function create({ tags }: ShardedDatabases): Promise<void> {
    await tags.create({ tag: 'order', step: 10, interleave: { of: 3, remainder: 0, block: 100 } });
  }

  it('begins above all its shares after a restart', async () => {
    await create(await startServer());
    // Another database has issued blocks while the owner was down.
    await execute('b', "UPDATE leaf_alloc SET next_id = 1001 WHERE biz_tag = 'order'");
    const { segments } = await startServer();
    expect((await segments.allocate('order', 1)).from).toBe(3001n);
    expect((await segments.allocate('order', 1)).from).toBe(3301n);
  });

  it('begins above all its shares during a refresh that has not seen all of them', async () => {
    await create(await startServer());
    await execute('b', "UPDATE leaf_alloc SET next_id = 1001 WHERE biz_tag = 'order'");
    const { shards, segments } = await startServer();
    let listOthers = (): void => undefined;
    const others = new Promise<void>((resolve) => (listOthers = resolve));
    const first = new Promise<void>((resolve) => {
      for (const { name, stores } of shards.all) {
        const list = stores.segments.listTags.bind(stores.segments);
        stores.segments.listTags = () => (name === 'a' ? list().finally(resolve) : others.then(list));
      }
    });
    const refresh = segments.listTags();
    await first;
    await turn();
    const allocation = await segments.allocate('order', 1);
    listOthers();
    await refresh;
    expect(allocation.from).toBe(3001n);
  });

  it('continues above its IDs when all rows are gone, and only another one is inserted again', async () => {
    const { tags, segments } = await startServer();
    await tags.create({ tag: 'order', step: 10, interleave: { of: 3, remainder: 0, block: 100 } });
    await execute('b', 'CREATE TABLE again AS SELECT * FROM leaf_alloc');
    expect(await segments.allocate('order', 300)).toMatchObject({ from: 1n, more: [{ from: 301n }, { from: 601n }] });
    for (const name of Object.keys(urls)) await execute(name, "DELETE FROM leaf_alloc WHERE biz_tag = 'order'");
    await segments.listTags();
    await execute('b', "INSERT INTO leaf_alloc SELECT * FROM again WHERE biz_tag = 'order'");
    await segments.listTags();
    expect((await segments.allocate('order', 1)).from).toBeGreaterThan(700n);
  });

  it('records what a deleted one has issued in every database', async () => {
    const server = await startServer();
    await create(server);
    await server.segments.listTags();
    await server.segments.allocate('order', 1);
    for (const name of ['a', 'b', 'c']) await execute(name, "DELETE FROM leaf_alloc WHERE biz_tag = 'order'");
    await server.segments.listTags();
    await server.segments.recordDeleted('order', 701n);
    for (const name of ['a', 'b', 'c']) {
      const sql = "SELECT max_id FROM leaf_deleted_tag WHERE biz_tag = 'order'";
      expect(await execute(name, sql)).toEqual([{ max_id: 701 }]);
    }
  });

  it('is not deleted, and fails the check, while the database of a share is not configured', async () => {
    await create(await startServer());
    for (const name of ['a', 'b']) await execute(name, "DELETE FROM leaf_registry WHERE name = 'database:c'");
    const { tags, segments } = await startServer(['a', 'b']);
    await expect(tags.remove('order')).rejects.toEqual(REFUSED('LEAF_TAG_ROW_INVALID'));
    expect((await segments.allocate('order', 1)).from).toBe(1n);
    const check = (names: string[]): ReturnType<typeof checkDatabases> => {
      const databases = Object.fromEntries(names.map((name) => [name, urls[name]!]));
      return checkDatabases({ shards: { databases, tags: ASSIGNED }, migrate: false }, clock, systemRandom);
    };
    const { ok, problems } = await check(['a', 'b']);
    expect({ ok, problems }).toEqual({
      ok: false,
      problems: [expect.stringContaining('only 2 of the configured ones')],
    });
    expect(await check(['a', 'b', 'c'])).toMatchObject({ ok: true, problems: [] });
    await (await startServer()).tags.remove('order');
  });
});
