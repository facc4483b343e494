import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LeafError, type NewTag, periodRow, SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { connect } from '../../../../test/support/contract/sql-stores';
import { day } from '../../../../test/support/contract/period.contract';
import { createDatabaseNames, createSegmentStore, createTagStore } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import { LeafDataSource } from '../database/leaf-data-source';
import { moveTags, type MoveTagsOptions, type TagMoveReport } from './move-tags';
import { type RemovalReport, removeDatabase, type RemoveDatabaseOptions } from './remove-database';

const NAMES = ['a', 'b', 'c'] as const;
type Name = (typeof NAMES)[number];

const NOT_READY = { code: 'LEAF_CONFIG_INVALID' };

describe('three databases between which tags move', () => {
  let directory: string;
  let databases: Record<string, string>;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-move-'));
    databases = Object.fromEntries(NAMES.map((name) => [name, `sqlite:${join(directory, name)}.sqlite`]));
    for (const name of NAMES) {
      await within(name, async (database) => {
        await database.query('DELETE FROM leaf_alloc');
        for (const each of NAMES) await createDatabaseNames(database).add(each);
      });
    }
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(directory, { recursive: true });
  });

  async function within<T>(name: Name, act: (database: LeafDataSource) => Promise<T>): Promise<T> {
    const database = await connect(parseDatabaseUrl(databases[name]!));
    try {
      return await act(database);
    } finally {
      await database.destroy();
    }
  }

  /** Creates a tag, of which the IDs below `next` are issued. */
  const put = (name: Name, tag: string, next = 1n, more: Partial<NewTag> = {}): Promise<void> =>
    within(name, async (database) => {
      await createTagStore(database).createAbove({ tag, step: 10, ...more });
      const segments = createSegmentStore(database, { gapSteps: 10, onFailover: () => undefined });
      if (next > 1n) await segments.raise(tag, next);
    });
  /** The first ID that each tag has not issued, of those in this database. */
  const rowsOf = (name: Name): Promise<Record<string, bigint>> =>
    within(name, async (database) => {
      const rows = await createTagStore(database).list();
      return Object.fromEntries(rows.map(({ tag, maxId }) => [tag, maxId]));
    });

  const move = (tags: Record<string, Name>, more: Partial<MoveTagsOptions> = {}): Promise<TagMoveReport> =>
    moveTags({ shards: { databases, tags }, dryRun: false, ...more }, new SystemClock(), systemRandom);
  const remove = (tags: Record<string, Name> = {}, more: Partial<RemoveDatabaseOptions> = {}): Promise<RemovalReport> =>
    removeDatabase(
      { shards: { databases, tags }, database: 'c', dryRun: false, ...more },
      new SystemClock(),
      systemRandom,
    );

  describe('by their assignments', () => {
    it('go to their owner, by name, and stay there', async () => {
      await put('a', 'zebra', 7n);
      await put('c', 'apple', 5n);
      await put('b', 'stays', 3n);
      const owners = { zebra: 'b', apple: 'a', stays: 'b' } as const;
      const tags = [
        { tag: 'apple', from: 'c', to: 'a', rows: 1 },
        { tag: 'zebra', from: 'a', to: 'b', rows: 1 },
      ];
      expect(await move(owners, { dryRun: true })).toEqual({ dryRun: true, tags });
      expect(await rowsOf('a')).toEqual({ zebra: 7n });
      const opened = jest.spyOn(LeafDataSource.prototype, 'initialize');
      expect(await move(owners)).toEqual({ dryRun: false, tags });
      expect(opened.mock.contexts.some(({ isInitialized }) => isInitialized)).toBe(false);
      expect(await Promise.all(NAMES.map(rowsOf))).toEqual([{ apple: 5n }, { stays: 3n, zebra: 7n }, {}]);
      expect(await move(owners)).toEqual({ dryRun: false, tags: [] });
    });

    it('go only if they are asked for, when some are', async () => {
      await put('a', 'one', 7n);
      await put('a', 'two', 5n);
      const owners = { one: 'b', two: 'b' } as const;
      expect((await move(owners, { only: ['two'] })).tags).toEqual([{ tag: 'two', from: 'a', to: 'b', rows: 1 }]);
      expect(await rowsOf('a')).toEqual({ one: 7n });
      expect(await move(owners, { only: [] })).toEqual({ dryRun: false, tags: [] });
    });

    it('take the rows of their periods with them, and leave those of interleaved tags', async () => {
      const daily = { reset: 'daily', zone: 'UTC' } as const;
      await put('a', 'invoice', 1n, daily);
      await within('a', async (database) => {
        const segments = createSegmentStore(database, { gapSteps: 10, onFailover: () => undefined });
        const kind = (await segments.findTag('invoice'))!.kind!;
        await segments.beginPeriod('invoice', kind, day(), 1n);
        await segments.allocate(periodRow('invoice', day().name), 5);
      });
      await put('a', 'shared', 1n, { interleave: { of: 2, remainder: 0, block: 100 } });
      const owners = { invoice: 'b', shared: 'b' } as const;
      expect((await move(owners)).tags).toEqual([{ tag: 'invoice', from: 'a', to: 'b', rows: 2 }]);
      await within('b', async (database) => {
        const segments = createSegmentStore(database, { gapSteps: 10, onFailover: () => undefined });
        expect(await segments.allocate(periodRow('invoice', day().name), 1)).toMatchObject({ from: 6n });
      });
      expect(Object.keys(await rowsOf('a'))).toEqual(['shared']);
    });

    it('go on after an interruption, or back', async () => {
      await put('a', 'order', 7n);
      await within('b', (database) =>
        database.query(`CREATE TRIGGER failing BEFORE INSERT ON leaf_alloc WHEN NEW.biz_tag LIKE '%order%'
          BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END`),
      );
      await expect(move({ order: 'b' })).rejects.toBeInstanceOf(LeafError);
      // Nothing is allocated from it meanwhile.
      expect(await rowsOf('a')).toEqual({});
      const planned = await move({ order: 'a' }, { dryRun: true });
      expect(planned.tags).toEqual([{ tag: 'order', from: 'a', to: 'a', rows: 1 }]);
      expect((await move({ order: 'a' })).tags).toEqual(planned.tags);
      expect(await rowsOf('a')).toEqual({ order: 7n });
      await within('b', (database) => database.query('DROP TRIGGER failing'));
      expect((await move({ order: 'b' }, { only: ['order'] })).tags).toHaveLength(1);
      expect(await rowsOf('b')).toEqual({ order: 7n });
    });

    it('do not move while the databases differ from those on record', async () => {
      await put('a', 'order', 7n);
      await within('a', (database) => createDatabaseNames(database).add('x'));
      const message = expect.stringMatching(
        /^Nothing was changed, because leaf-server check reports problems.*"x" has or had tags/,
      ) as string;
      await expect(move({ order: 'b' })).rejects.toMatchObject({ ...NOT_READY, message });
      await within('a', (database) => database.query("DELETE FROM leaf_registry WHERE name = 'database:x'"));
      await within('c', (database) => database.query("DELETE FROM leaf_registry WHERE name = 'database:c'"));
      const replaced = expect.stringContaining('The database "c" was replaced') as string;
      await expect(move({ order: 'b' })).rejects.toMatchObject({ ...NOT_READY, message: replaced });
      expect(await rowsOf('a')).toEqual({ order: 7n });
    });
  });

  describe('out of the one that leaves the list', () => {
    it('go to the owners under the new list, and the others know', async () => {
      await put('c', 'zebra', 7n);
      await put('c', 'apple', 5n);
      await put('a', 'stays', 3n);
      // These assignments have to go.
      const assigned = { zebra: 'c', apple: 'c', stays: 'a' } as const;
      const { tags } = await remove(assigned, { dryRun: true });
      const [apple, zebra] = tags.map(({ to }) => to) as [Name, Name];
      for (const to of [apple, zebra]) expect(['a', 'b']).toContain(to);
      const report = {
        ...{ database: 'c', remaining: ['a', 'b'], assigned: ['zebra', 'apple'] },
        tags: [
          { tag: 'apple', from: 'c', to: apple, rows: 1 },
          { tag: 'zebra', from: 'c', to: zebra, rows: 1 },
        ],
      };
      expect(await remove(assigned, { dryRun: true })).toEqual({ ...report, dryRun: true });
      expect(await rowsOf('c')).toEqual({ zebra: 7n, apple: 5n });
      const opened = jest.spyOn(LeafDataSource.prototype, 'initialize');
      expect(await remove(assigned)).toEqual({ ...report, dryRun: false });
      expect(opened.mock.contexts.some(({ isInitialized }) => isInitialized)).toBe(false);
      expect(await rowsOf(apple)).toMatchObject({ apple: 5n });
      expect(await rowsOf(zebra)).toMatchObject({ zebra: 7n });
      expect(await rowsOf('c')).toEqual({});
      const states = (name: Name): Promise<unknown[]> =>
        within(name, async (database) => [...(await createDatabaseNames(database).list()).values()]);
      expect(await Promise.all(NAMES.map(states))).toEqual([
        ['listed', 'listed', 'removed'],
        ['listed', 'listed', 'removed'],
        ['listed', 'listed', 'left'],
      ]);
      // A repetition finds nothing more.
      expect(await remove(assigned)).toMatchObject({ tags: [], remaining: ['a', 'b'] });
    });

    it('do not go to another one that has left', async () => {
      await remove({}, { database: 'b' });
      await put('a', 'order', 7n);
      await remove({}, { database: 'b' });
      await within('c', (database) =>
        database.query('UPDATE leaf_registry SET document = \'{"state":"left"}\' WHERE name = \'database:c\''),
      );
      expect(await remove()).toMatchObject({ remaining: ['a'] });
      await within('a', (database) =>
        database.query('UPDATE leaf_registry SET document = \'{"state":"left"}\' WHERE name = \'database:a\''),
      );
      const message = expect.stringMatching(/^"a" is the only database in the option/) as string;
      await expect(remove({}, { database: 'a' })).rejects.toMatchObject({ ...NOT_READY, message });
    });

    it('has to be one of several', async () => {
      const unknown = 'Unknown database "x": the option segment.database.shards lists a, b, c. Run the command';
      await expect(remove({}, { database: 'x' })).rejects.toMatchObject({
        ...{ ...NOT_READY, message: expect.stringContaining(unknown) as string },
      });
      const alone = removeDatabase(
        { shards: { databases: { c: databases.c! } }, database: 'c', dryRun: false },
        new SystemClock(),
        systemRandom,
      );
      const message = expect.stringMatching(/^"c" is the only database .* cannot move to another one\.$/) as string;
      await expect(alone).rejects.toMatchObject({ ...NOT_READY, message });
    });

    it('does not leave while a tag is in the wrong database', async () => {
      await put('b', 'order', 7n);
      const message = expect.stringContaining('Tag "order" belongs to the database "a"') as string;
      await expect(remove({ order: 'a' })).rejects.toMatchObject({ ...NOT_READY, message });
      expect(await rowsOf('b')).toEqual({ order: 7n });
    });
  });
});
