import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { periodRow } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import {
  checkDatabases,
  createTagStore,
  type DatabaseReport,
  FIRST_TAG,
  parseDatabaseUrl,
  ShardRouter,
} from '@leaf-ids/persistence';
import { day } from '../../support/contract/period.contract';
import { clock, connect, sqlFixture } from '../../support/contract/sql-stores';
import { type ShardedDatabases, shardedDatabases } from '../../support/servers/shards';

const REFUSED = { code: 'LEAF_TAG_ROW_INVALID' };

describe('a database that is added, taken out or exchanged', () => {
  let directory: string;
  const opened: ShardedDatabases[] = [];

  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'leaf-roster-'))));
  afterEach(async () => {
    await closeAll();
    await rm(directory, { recursive: true });
  });

  async function closeAll(): Promise<void> {
    for (const { shards } of opened.splice(0)) await shards.close();
  }

  const urlOf = (file: string): string => `sqlite:${join(directory, file)}.sqlite`;

  /** A server that starts with databases of these names, after all others have ended. */
  async function restart(names: readonly string[], files: Record<string, string> = {}): Promise<ShardedDatabases> {
    await closeAll();
    const databases = shardedDatabases(Object.fromEntries(names.map((name) => [name, urlOf(files[name] ?? name)])));
    opened.push(databases);
    await databases.shards.start();
    return databases;
  }

  async function execute(file: string, ...statements: string[]): Promise<void> {
    const dataSource = await connect(parseDatabaseUrl(urlOf(file)));
    for (const statement of statements) await dataSource.query(statement);
    await dataSource.destroy();
  }

  /** A tag that belongs to `owner` of `names`. */
  function tagOf(owner: string, names: readonly string[]): string {
    const router = new ShardRouter(names, {});
    return Array.from({ length: 100 }, (_, n) => `order${n}`).find((tag) => router.shardOf(tag) === owner)!;
  }

  it('new ones begin with the first tag, once', async () => {
    const { tags, reports } = await restart(['a', 'b']);
    expect(await tags.list()).toMatchObject([{ tag: FIRST_TAG, maxId: 1n, step: 2000 }]);
    await tags.remove(FIRST_TAG);
    expect(await (await restart(['a', 'b'])).tags.list()).toStrictEqual([]);
    expect(reports).toStrictEqual([]);
  });

  it('an added one does not begin the first tag again', async () => {
    const owner = new ShardRouter(['a', 'b'], {}).shardOf(FIRST_TAG);
    const other = owner === 'a' ? 'b' : 'a';
    await (await restart([other])).segments.allocate(FIRST_TAG, 5000);
    const { segments, tags, reports } = await restart([other, owner]);
    expect(await segments.listTags()).toStrictEqual([]);
    expect(reports).toEqual([`${FIRST_TAG} in ${other}, not ${owner}`]);
    await expect(segments.findTag(FIRST_TAG)).rejects.toMatchObject(REFUSED);
    await expect(segments.allocate(FIRST_TAG, 1)).rejects.toMatchObject(REFUSED);
    await expect(tags.create({ tag: FIRST_TAG, step: 1 })).rejects.toMatchObject({ code: 'LEAF_TAG_EXISTS' });
  });

  it('an added one goes on where a deleted tag had come to', async () => {
    const tag = tagOf('b', ['a', 'b']);
    const before = await restart(['a']);
    await before.tags.create({ tag, step: 100 });
    await before.segments.allocate(tag, 5000);
    await before.tags.remove(tag);
    const { segments, tags } = await restart(['a', 'b']);
    await tags.create({ tag, step: 100 });
    expect(await segments.allocate(tag, 1)).toMatchObject({ from: 5001n });
  });

  it('tags of one that was taken out are refused until the others forget it', async () => {
    const tag = tagOf('b', ['a', 'b']);
    await (await restart(['a', 'b'])).tags.create({ tag, step: 100 });
    const { segments, tags, reports } = await restart(['a']);
    expect(reports).toEqual([expect.stringContaining('The database "b" has or had tags')]);
    await expect(segments.findTag(tag)).rejects.toMatchObject(REFUSED);
    await expect(segments.allocate(tag, 1)).rejects.toMatchObject(REFUSED);
    await expect(tags.create({ tag, step: 100 })).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    await execute('a', "DELETE FROM leaf_registry WHERE name = 'database:b'");
    expect(await (await restart(['a'])).tags.create({ tag, step: 100 })).toMatchObject({ maxId: 1n });
  });

  it('a period whose row is gone begins again though the name of another database is missing', async () => {
    const tag = tagOf('a', ['a', 'b']);
    const whole = await restart(['a', 'b']);
    const kind = await whole.tags.create({ tag, step: 10, reset: 'daily', zone: 'UTC' });
    const { segments, reports } = await restart(['a']);
    expect(reports).toEqual([expect.stringContaining('The database "b" has or had tags')]);
    const row = periodRow(tag, day().name);
    await segments.beginPeriod(tag, kind, day(), 1n);
    expect(await segments.allocate(row, 5)).toMatchObject({ from: 1n });
    await execute('a', `DELETE FROM leaf_alloc WHERE biz_tag = '${row}'`);
    await expect(segments.allocate(row, 5)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    await segments.beginPeriod(tag, kind, day(), 6n);
    expect((await segments.allocate(row, 5)).from).toBeGreaterThan(5n);
    await execute('a', `DELETE FROM leaf_alloc WHERE biz_tag LIKE '${tag}%'`);
    await expect(segments.allocate(row, 5)).rejects.toMatchObject(REFUSED);
  });

  it('one of several does not serve alone as if it were the only one', async () => {
    await restart(['a', 'b']);
    await closeAll();
    const dataSource = await connect(parseDatabaseUrl(urlOf('a')));
    const created = createTagStore(dataSource).create({ tag: 'order', step: 1 });
    await expect(created).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    await dataSource.destroy();
  });

  it('the only one of its list serves without the list as well', async () => {
    await restart(['a']);
    await closeAll();
    const dataSource = await connect(parseDatabaseUrl(urlOf('a')));
    expect(await createTagStore(dataSource).create({ tag: 'order', step: 1 })).toMatchObject({ maxId: 1n });
    await dataSource.destroy();
  });

  it('an empty one in the place of another is noticed', async () => {
    const tag = tagOf('b', ['a', 'b']);
    await (await restart(['a', 'b'])).tags.create({ tag, step: 100 });
    for (let start = 0; start < 2; start++) {
      const { segments, tags, reports } = await restart(['a', 'b'], { b: 'wrong' });
      expect(reports).toEqual([expect.stringContaining('The database "b" was replaced')]);
      await expect(segments.findTag(tag)).rejects.toMatchObject(REFUSED);
      await expect(tags.create({ tag, step: 100 })).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
      expect(await (await restart(['a', 'b'])).segments.findTag(tag)).toMatchObject({ tag });
    }
  });

  it('a newcomer is made known when all the others answer', async () => {
    await restart(['a', 'b']);
    // A directory cannot be opened as a database file.
    await mkdir(join(directory, 'away.sqlite'));
    const { tags, reports } = await restart(['a', 'b', 'c'], { b: 'away' });
    await expect(tags.create({ tag: 'order', step: 1 })).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    // Nobody was told of c: without it, nothing is missing.
    expect((await restart(['a', 'b'])).reports).toStrictEqual([]);
    await (await restart(['a', 'b', 'c'])).tags.create({ tag: 'order', step: 1 });
    expect((await restart(['a', 'b'])).reports).toEqual([expect.stringContaining('"c"')]);
    expect(reports).toContain('b not open');
  });

  it('two rows of one tag give no IDs while the one that counts is behind', async () => {
    const tag = tagOf('b', ['a', 'b']);
    const rows = await sqlFixture(urlOf('a'), () => Promise.resolve());
    await rows.putRow(tag, 900n, 10);
    const { segments, tags } = await restart(['a', 'b']);
    await execute('b', `INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('${tag}', 100, 10)`);
    await segments.listTags();
    await expect(segments.allocate(tag, 1)).rejects.toMatchObject(REFUSED);
    await tags.create({ tag: 'other', step: 10 });
    const requests = ['other', tag].map((each) => ({ tag: each, size: 1 }));
    expect(await segments.allocateAll(requests)).toMatchObject([{ from: 1n }, REFUSED]);
    await tags.change(tag, { maxId: 900n });
    await segments.listTags();
    expect(await segments.allocate(tag, 1)).toMatchObject({ from: 900n });
    expect(await segments.allocateAll(requests)).toMatchObject([{ from: 2n }, { from: 901n }]);
    await rows.close();
  });

  it('one with a share of an interleaved tag, taken out and forgotten, keeps its IDs from a new tag', async () => {
    const { tags, segments } = await restart(['a', 'b', 'c']);
    await tags.create({ tag: 'order', step: 10, interleave: { of: 3, remainder: 0, block: 100 } });
    await segments.allocate('order', undefined);
    await closeAll();
    for (const name of ['a', 'b']) await execute(name, "DELETE FROM leaf_registry WHERE name = 'database:c'");
    const left = await restart(['a', 'b']);
    await expect(left.tags.remove('order')).rejects.toMatchObject(REFUSED);
    expect(await left.segments.findTag('order')).toMatchObject({ kind: { interleave: { of: 3 } } });
    const check = (names: readonly string[]): Promise<DatabaseReport> => {
      const databases = Object.fromEntries(names.map((name) => [name, urlOf(name)]));
      return checkDatabases({ shards: { databases }, migrate: false }, clock, systemRandom);
    };
    const { ok, problems } = await check(['a', 'b']);
    expect({ ok, problems }).toEqual({ ok: false, problems: [expect.stringContaining('only 2 of the configured')] });
    await restart(['a', 'b', 'c']);
    expect(await check(['a', 'b', 'c'])).toMatchObject({ ok: true });
  });
});
