import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NewTag, SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { connect } from '../../../../test/support/contract/sql-stores';
import { createDatabaseNames, createSegmentStore, createTagStore } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import { FIRST_TAG } from '../database/open-database';
import { checkDatabases, type DatabaseReport } from './check-databases';
import { OpenDatabases } from './open-databases';

/** Tags by their owner. */
const TAGS = { order: 'a', invoice: 'b', shared: 'a' };

describe('the check of the databases', () => {
  let directory: string;
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'leaf-check-'))));
  afterEach(() => rm(directory, { recursive: true }));

  const urlOf = (name: string): string => `sqlite:${join(directory, name)}.sqlite`;
  const listOf = (...names: string[]): Record<string, string> =>
    Object.fromEntries(names.map((name) => [name, urlOf(name)]));
  const check = (...names: string[]): Promise<DatabaseReport> =>
    checkDatabases(
      { shards: { databases: listOf(...names), tags: TAGS }, migrate: false },
      new SystemClock(),
      systemRandom,
    );
  const checkAlone = (name: string): Promise<DatabaseReport> =>
    checkDatabases({ url: urlOf(name), migrate: false }, new SystemClock(), systemRandom);

  /** A database with these tags at these positions; those that begin with `-` were deleted. */
  async function make(name: string, positions: Record<string, bigint>, more: Partial<NewTag> = {}): Promise<void> {
    const database = await connect(parseDatabaseUrl(urlOf(name)));
    const tags = createTagStore(database);
    const segments = createSegmentStore(database, { gapSteps: 10, onFailover: () => undefined });
    if ((await tags.list()).some(({ tag }) => tag === FIRST_TAG)) await database.query('DELETE FROM leaf_alloc');
    for (const [key, maxId] of Object.entries(positions)) {
      const tag = key.replace('-', '');
      await tags.createAbove({ tag, step: 10, ...more });
      await segments.raise(tag, maxId);
      if (key !== tag) await tags.remove(tag);
    }
    await database.destroy();
  }

  async function record(name: string, ...names: string[]): Promise<void> {
    const database = await connect(parseDatabaseUrl(urlOf(name)));
    for (const each of names) await createDatabaseNames(database).add(each);
    await database.destroy();
  }

  it('finds every tag in its database', async () => {
    await make('a', { order: 17n, '-gone': 5n });
    await make('b', { invoice: 3n });
    expect(await check('a', 'b')).toEqual({
      ok: true,
      databases: [
        { name: 'a', database: urlOf('a'), state: 'ready', tags: 1, deleted: 1 },
        { name: 'b', database: urlOf('b'), state: 'ready', tags: 1, deleted: 0 },
      ],
      tags: [
        { tag: 'invoice', database: 'b', owner: 'b', maxId: '3', state: 'ok' },
        { tag: 'order', database: 'a', owner: 'a', maxId: '17', state: 'ok' },
      ],
      problems: [],
    });
  });

  it('says which databases are new, and which cannot be read', async () => {
    await writeFile(join(directory, 'torn.sqlite'), '');
    await (await connect(parseDatabaseUrl(urlOf('empty')), false)).destroy();
    const { ok, databases, problems } = await check('missing', 'empty', 'torn');
    expect(ok).toBe(false);
    expect(databases.map(({ name, state, tags }) => [name, state, tags])).toEqual([
      ['missing', 'new', 0],
      ['empty', 'new', 0],
      ['torn', 'unusable', 0],
    ]);
    expect(problems).toEqual([
      ...['missing', 'empty'].map(
        (name) =>
          `The database "${name}" (${urlOf(name)}) is new: the first start creates its tables, and every tag starts at 1.`,
      ),
      expect.stringMatching(/^The database "torn" \(sqlite:.*\) cannot be read: .*is empty.*[^.]\.$/),
    ]);
  });

  it('finds tags without a row in their own database', async () => {
    await make('a', {});
    await make('b', { order: 17n });
    const { ok, tags, problems } = await check('a', 'b');
    expect(ok).toBe(false);
    expect(tags).toEqual([{ tag: 'order', database: 'b', owner: 'a', maxId: '17', state: 'misplaced' }]);
    expect(problems).toEqual([expect.stringContaining('belongs to the database "a", but has a row in "b"')]);
  });

  it.each<[bigint, string, RegExp[]]>([
    [17n, 'ok', [/has a row in "b"/]],
    [16n, 'ok', [/has a row in "b"/]],
    [18n, 'behind', [/has issued IDs up to 17 from the database "b"/, /has a row in "b"/]],
  ])('with a leftover row at %d finds the row in use %s', async (left, state, expected) => {
    await make('a', { order: 17n });
    await make('b', { order: left });
    const { tags, problems } = await check('a', 'b');
    expect(tags.map((row) => [row.database, row.state])).toEqual([
      ['a', state],
      ['b', 'left over'],
    ]);
    expect(problems).toEqual(expected.map((text) => expect.stringMatching(text) as string));
  });

  it.each<[string, bigint, string]>([
    ['b', 18n, 'behind'],
    ['b', 17n, 'ok'],
    ['c', 500n, 'behind'],
  ])('finds a row that is behind a deleted tag in %s at %d: %s', async (name, deleted, state) => {
    await make('a', { order: 17n });
    await make('b', {});
    await make('c', {});
    await make(name, { '-order': deleted });
    expect((await check('a', 'b', 'c')).tags).toEqual([
      { tag: 'order', database: 'a', owner: 'a', maxId: '17', state },
    ]);
  });

  it('finds shares that are missing, in conflict, or beside a plain row', async () => {
    const share = (remainder: number, of = 2): Partial<NewTag> => ({ interleave: { of, remainder, block: 100 } });
    await make('a', { shared: 1n }, share(0));
    await make('b', {});
    expect(await check('a', 'b')).toMatchObject({
      ok: false,
      tags: [{ database: 'a', owner: 'a', state: 'misplaced' }],
      problems: [expect.stringContaining('over 2 databases, but only 1 of the configured ones')],
    });
    // A single database may be one of several sites.
    expect(await checkAlone('a')).toMatchObject({ ok: true, databases: [{ name: 'database' }] });
    await make('b', { shared: 1n }, share(1));
    expect(await check('a', 'b')).toMatchObject({
      ...{ ok: true, problems: [] },
      tags: [
        { database: 'a', owner: 'a', state: 'ok' },
        { database: 'b', owner: 'b', state: 'ok' },
      ],
    });
    await make('c', { shared: 1n }, share(1));
    const conflict = await check('a', 'b', 'c');
    expect(conflict.problems).toEqual([
      expect.stringMatching(/^Tag "shared" has conflicting shares in "b" and "c": .*Delete the wrong row\.$/),
    ]);
    expect(conflict.tags.map(({ state }) => state)).toEqual(['misplaced', 'misplaced', 'misplaced']);
    await make('d', { shared: 1n });
    expect((await check('a', 'b', 'd')).problems).toEqual(['Tag "shared" has a row in "d" that is not interleaved.']);
  });

  it('compares the databases with those on record', async () => {
    for (const name of ['a', 'b']) {
      await make(name, {});
      await record(name, 'a', 'b', 'x');
    }
    const missing = expect.stringContaining('The database "x" has or had tags') as string;
    expect((await check('a', 'b')).problems).toEqual([missing]);
    await make('c', {});
    await record('a', 'c');
    const replaced = expect.stringContaining('The database "c" was replaced') as string;
    expect((await check('a', 'b', 'c')).problems).toEqual([missing, replaced]);
    const oneOfSeveral = expect.stringContaining('This database was one of several') as string;
    expect((await checkAlone('a')).problems).toEqual([oneOfSeveral]);
    // One that cannot be read is not one that lacks its name.
    await writeFile(join(directory, 'c.sqlite'), '');
    const unreadable = expect.stringContaining('cannot be read') as string;
    expect((await check('a', 'b', 'c')).problems).toEqual([unreadable, missing]);
  });

  describe('before a command that moves tags', () => {
    const open = (...names: string[]): Promise<OpenDatabases> =>
      OpenDatabases.open(
        { shards: { databases: listOf(...names), tags: TAGS }, dryRun: false },
        new SystemClock(),
        systemRandom,
      );

    it('stops at a database that has no tables or cannot be read', async () => {
      await make('a', {});
      const message = expect.stringMatching(
        /^Nothing was changed, because leaf-server check reports problems\. Fix them first: The database "b" .* is new/,
      ) as string;
      await expect(open('a', 'b')).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID', message });
    });

    it('opens each of them, and records their names', async () => {
      await make('a', { order: 17n });
      await make('b', { order: 3n });
      const databases = await open('a', 'b');
      expect(databases.problems).toEqual([expect.stringContaining('has a row in "b"')]);
      expect([...databases].map(({ name }) => name)).toEqual(['a', 'b']);
      expect(() => databases.get('x')).toThrow('the database "x" is not open');
      await databases.prepare();
      const { lists, messages } = await databases.compareNames();
      expect([...lists].map(([name, names]) => [name, [...names.keys()]])).toEqual([
        ['a', ['a', 'b']],
        ['b', ['a', 'b']],
      ]);
      expect(messages).toStrictEqual([]);
      const { dataSource } = databases.get('a');
      await databases.close();
      expect(dataSource.isInitialized).toBe(false);
    });
  });
});
