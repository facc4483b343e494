import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LeafError } from '@leaf-ids/core';
import { connect } from '../../../../test/support/contract/sql-stores';
import { createDatabaseNames } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import { FIRST_TAG } from '../database/open-database';
import { type ShardedDatabases, shardedDatabases } from '../../../../test/support/servers/shards';
import { behind, misplaced, periodsElsewhere, ShardRouter, sharesMissing } from './shards';

describe('the assignment of tags to databases', () => {
  it('follows the map, and otherwise the hash', () => {
    const router = new ShardRouter(['a', 'b', 'c'], { order: 'c' });
    expect(router.shardOf('order')).toBe('c');
    // Not a property of every object.
    expect(['a', 'b', 'c']).toContain(router.shardOf('toString'));
    const owners = Array.from({ length: 300 }, (_, n) => router.shardOf(`tag-${n}`));
    for (const name of ['a', 'b', 'c']) expect(owners.filter((owner) => owner === name).length).toBeGreaterThan(50);
  });

  it('gives an additional database its share, and leaves all other tags where they are', () => {
    const [before, after] = [new ShardRouter(['a', 'b'], {}), new ShardRouter(['c', 'b', 'a'], {})];
    const tags = Array.from({ length: 300 }, (_, n) => `tag-${n}`);
    const moved = tags.filter((tag) => before.shardOf(tag) !== after.shardOf(tag));
    expect(moved.length).toBeGreaterThan(50);
    expect(new Set(moved.map((tag) => after.shardOf(tag)))).toEqual(new Set(['c']));
  });
});

describe('several databases', () => {
  const opened: ShardedDatabases[] = [];
  afterEach(async () => {
    for (const { shards } of opened.splice(0)) await shards.close();
  });

  function open(urls: Record<string, string>, tags: Record<string, string> = {}): ShardedDatabases {
    const databases = shardedDatabases(urls, tags);
    opened.push(databases);
    return databases;
  }

  const MEMORY = 'sqlite::memory:';
  // A directory cannot be opened as a database file.
  const BROKEN = 'sqlite:/';

  it('own their tags with the rows of their periods', () => {
    const { shards } = open({ a: MEMORY, b: MEMORY }, { order: 'b', lost: 'x' });
    expect([shards.of('order').name, shards.of('order@2023').name]).toEqual(['b', 'b']);
    expect(() => shards.of('lost')).toThrow('there is no database "x"');
  });

  it('start when one of them is open, and create the first tag only if all of them are empty', async () => {
    const whole = open({ a: MEMORY, b: MEMORY });
    await whole.shards.start();
    expect((await whole.segments.listTags()).map(({ tag }) => tag)).toEqual([FIRST_TAG]);
    const part = open({ a: MEMORY, b: BROKEN }, { [FIRST_TAG]: 'a' });
    await part.shards.start();
    expect(part.reports).toEqual(['b not open']);
    expect(await part.segments.listTags()).toStrictEqual([]);
  });

  it('move the tags of one forward only while it is in the list', async () => {
    const { shards } = open({ a: MEMORY, b: MEMORY });
    await shards.start();
    const [a, b] = shards.all;
    await a?.stores.names.mark('b', 'removed');
    await a?.beforeMove();
    const message = expect.stringContaining('The database "b" was removed') as string;
    await expect(b?.beforeMove()).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE', message });
  });

  describe('of which one was there before', () => {
    let directory: string;
    const urlOf = (name: string): string => `sqlite:${join(directory, name)}.sqlite`;
    beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'leaf-shards-'))));
    afterEach(() => rm(directory, { recursive: true }));

    it.each<[string, 'a' | 'b', string[], string[]]>([
      ['has a tag', 'b', [], []],
      [
        'has a deleted tag',
        'b',
        [],
        ['DELETE FROM leaf_alloc', "INSERT INTO leaf_deleted_tag (biz_tag, max_id) VALUES ('t', 5)"],
      ],
      ['knows another database', 'b', ['x'], ['DELETE FROM leaf_alloc']],
      ['is that of the first tag', 'a', [], ['DELETE FROM leaf_alloc']],
    ])('do not create the first tag when it %s', async (_, name, names, statements) => {
      const database = await connect(parseDatabaseUrl(urlOf(name)));
      for (const each of names) await createDatabaseNames(database).add(each);
      for (const sql of statements) await database.query(sql);
      await database.destroy();
      const { shards } = open({ a: urlOf('a'), b: urlOf('b') }, { [FIRST_TAG]: 'a' });
      await shards.start();
      expect(await shards.all[0]?.stores.tags.current(FIRST_TAG)).toBeUndefined();
      await shards.close();
    });
  });

  it('do not start when none of them is open', async () => {
    const none = open({ a: BROKEN, b: BROKEN });
    await expect(none.shards.start()).rejects.toBeInstanceOf(LeafError);
  });

  it('that were closed are not used any more', async () => {
    const { shards } = open({ a: MEMORY, b: BROKEN });
    await shards.start();
    const [a, b] = shards.all;
    expect(a?.dataSource?.isInitialized).toBe(true);
    expect(b?.dataSource).toBeUndefined();
    expect(() => b?.stores).toThrow(
      expect.objectContaining({
        ...{ code: 'LEAF_STORE_UNAVAILABLE', retryAfterMs: 1000 },
        message: expect.stringContaining('The database "b" has not been reachable since this server started') as string,
        cause: expect.objectContaining({ message: expect.stringMatching(/^sqlite:\/: .+/) as string }) as Error,
      }),
    );
    const unopened = open({ c: MEMORY }).shards.all[0];
    expect(() => unopened?.stores).toThrow(
      expect.objectContaining({
        cause: expect.objectContaining({ message: `${MEMORY} (nothing lasts): not open` }) as Error,
      }),
    );
    await shards.close();
    expect(a?.dataSource?.isInitialized).toBe(false);
  });
});

it.each([
  [misplaced('t', 'b', 'a'), /^Tag "t" belongs to the database "a", but has a row in "b".*to "b" in the option/],
  [periodsElsewhere('t', 'b', 'a'), /^Tag "t" belongs to the database "a", but "b" has a row.*\("t", "t@…"\).*to "b"/],
  [behind('t', 'a', 'b', 100n), /^Tag "t" has issued IDs up to 99 from the database "b", and its row in "a".* to 100,/],
  [sharesMissing('t', 2, 3), /^Tag "t" is interleaved over 3 databases, but only 2 of the configured ones/],
])('A refusal names the tag, the databases and the remedy: %s', (message, text) => {
  expect(message).toMatch(text);
});
