import { MAX_ID, type NewTag, type TagChange, type TagRow } from '@leaf-ids/core';
import { connect } from '../../../../test/support/contract/sql-stores';
import { createDatabaseNames, createTagStore } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { compareNames, highest, type SqlTagStore } from './sql-tag-store';

const DESCRIPTION = 'sqlite::memory: (nothing lasts)';
const SHARE = { of: 3, remainder: 0, block: 10 };

describe('SqlTagStore', () => {
  let database: LeafDataSource;
  let tags: SqlTagStore;
  beforeEach(async () => {
    database = await connect(parseDatabaseUrl('sqlite::memory:'));
    tags = createTagStore(database);
    await execute('DELETE FROM leaf_alloc');
  });
  afterEach(() => database.destroy());

  async function execute<Rows = unknown>(...statements: string[]): Promise<Rows> {
    let rows: unknown;
    for (const sql of statements) rows = await database.query(sql);
    return rows as Rows;
  }
  const create = (tag: string, more: Partial<NewTag> = {}): Promise<TagRow> => tags.create({ tag, step: 10, ...more });
  const record = (tag: string, maxId: bigint, limit: bigint | null = null): Promise<unknown> =>
    execute(
      `INSERT INTO leaf_deleted_tag (biz_tag, max_id, issue_limit) VALUES ('${tag}', ${maxId}, ${limit ?? 'NULL'})`,
    );
  const records = (): Promise<object[]> =>
    execute(`SELECT biz_tag, CAST(max_id AS TEXT) AS max_id, CAST(issue_limit AS TEXT) AS issue_limit
      FROM leaf_deleted_tag ORDER BY biz_tag`);
  const refused = (code: string, message: string): object => ({ code, message });
  const names = (rows: readonly TagRow[]): string[] => rows.map(({ tag }) => tag);

  describe('reading', () => {
    it('lists all tags in pages, without their periods and those that are on their way to another database', async () => {
      const all = Array.from({ length: 120 }, (_, n) => `t${String(n).padStart(3, '0')}`);
      for (const tag of [...all, 't000@2026', '@t001']) {
        await execute(`INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('${tag}', 1, 10)`);
      }
      const yielded = jest.spyOn(database.access, 'yieldToEventLoop');
      expect(names(await tags.list())).toEqual(all);
      expect(yielded).toHaveBeenCalledTimes(2);
      expect(names(await tags.list({ after: 't010', limit: 75 }))).toEqual(all.slice(11, 86));
      expect(names(await tags.listByBytes({ after: 't100' }))).toEqual(all.slice(101));
      expect(names(await tags.list({ after: 't117', limit: 2 }))).toEqual(['t118', 't119']);
      expect(await tags.list({ limit: 0 })).toStrictEqual([]);
    });

    it('gives each of many readers at once what it asks for', async () => {
      for (const tag of ['a', 'b', 'c']) await create(tag);
      const [some, ...others] = await Promise.all([
        tags.list({ limit: 1 }),
        tags.list({ limit: 2 }),
        tags.list({ limit: 3 }),
        tags.list({ after: 'a', limit: 2 }),
        tags.listByBytes({ after: 'b', limit: 2 }),
      ]);
      expect([some, ...others].map(names)).toEqual([['a'], ['a', 'b'], ['a', 'b', 'c'], ['b', 'c'], ['c']]);
      const found = await Promise.all(['a', 'b', 'c', 'd'].map((tag) => tags.find(tag)));
      expect(found.map((row) => row?.tag)).toEqual(['a', 'b', 'c', undefined]);
    });

    it('knows whether the database is used', async () => {
      expect(await tags.isUsed()).toBe(false);
      await record('gone', 5n);
      expect(await tags.isUsed()).toBe(true);
      await execute('DELETE FROM leaf_deleted_tag');
      await create('order');
      expect(await tags.isUsed()).toBe(true);
    });

    it('lists the deleted tags, and tells the first ID of each that was not allocated', async () => {
      await create('order');
      await record('order', 5n);
      await record('gone', 2n ** 60n + 1n);
      await record('invoice@', 7n, 50n);
      expect(await tags.listDeleted()).toEqual(
        new Map([
          ['gone', 2n ** 60n + 1n],
          ['invoice@', 7n],
        ]),
      );
      expect(await tags.deleted({ tag: 'gone', step: 1 })).toBe(2n ** 60n + 1n);
      expect(await tags.deleted({ tag: 'invoice', step: 1 })).toBeUndefined();
      expect(await tags.deleted({ tag: 'invoice', step: 1, reset: 'daily' })).toBe(50n);
    });

    it.each([
      [undefined, 5n, null, 5n],
      [undefined, 5n, 3n, 5n],
      [undefined, 5n, 50n, 50n],
      [SHARE, 5n, 50n, 140n],
      [SHARE, 5n, MAX_ID, MAX_ID],
    ])('of %j, a record of %s with the limit %s ends at %s', async (interleave, maxId, limit, end) => {
      await record('gone', maxId, limit);
      expect(await tags.deleted({ tag: 'gone', step: 1, interleave })).toBe(end);
    });
  });

  describe('creation', () => {
    it('does not create a tag twice', async () => {
      await create('order');
      await expect(create('order')).rejects.toMatchObject(
        refused('LEAF_TAG_EXISTS', 'The tag "order" already exists. Change it, or choose another name.'),
      );
    });

    it('says when the table equals two names', async () => {
      // As MySQL does for an equal name.
      await execute('CREATE TRIGGER equal BEFORE INSERT ON leaf_alloc BEGIN SELECT RAISE(IGNORE); END');
      await expect(create('order')).rejects.toMatchObject(
        refused(
          'LEAF_TAG_EXISTS',
          'The table leaf_alloc has a tag that its collation treats as equal to "order", with other letter case or trailing spaces. Choose another name.',
        ),
      );
    });

    it('does not keep a tag whose description the table cannot store', async () => {
      const description = (sql: string): Promise<unknown> =>
        execute(
          'DROP TRIGGER IF EXISTS lossy',
          `CREATE TRIGGER lossy AFTER INSERT ON leaf_alloc BEGIN UPDATE leaf_alloc SET description = ${sql}; END`,
        );
      const lossy = refused(
        'LEAF_BODY_INVALID',
        'The database cannot store the description of tag "order": the character set of the table lacks some of its characters. Convert the table to utf8mb4, or change the description.',
      );
      await description("'????'");
      await expect(create('order', { description: '漢' })).rejects.toMatchObject(lossy);
      await expect(create('order')).rejects.toMatchObject(lossy);
      expect(await tags.list()).toStrictEqual([]);
      await description('NULL');
      expect((await create('order', { description: '' })).description).toBeUndefined();
    });

    it('does not create a tag that is on its way to another database', async () => {
      await execute("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('@order', 1, 10)");
      const moving = refused(
        'LEAF_TAG_EXISTS',
        `Tag "order" is moving from ${DESCRIPTION} to another database. If leaf-server move-tags ended before, run it again.`,
      );
      await expect(create('order')).rejects.toMatchObject(moving);
      await expect(tags.assertNotMoving('order')).rejects.toMatchObject(moving);
      await tags.assertNotMoving('other');
      expect(await tags.find('order')).toBeUndefined();
    });

    it('refuses a database that was one of several, unless it is used with the others', async () => {
      const roster = createDatabaseNames(database);
      for (const name of ['a', 'b']) await roster.add(name);
      await expect(create('order')).rejects.toMatchObject({
        code: 'LEAF_STORE_UNAVAILABLE',
        message: expect.stringContaining('one of several (a, b)') as string,
      });
      expect(await tags.createAbove({ tag: 'order', step: 10 })).toMatchObject({ maxId: 1n });
      await roster.mark('a', 'left');
      await expect(tags.createAbove({ tag: 'other', step: 10 })).rejects.toMatchObject({
        code: 'LEAF_STORE_UNAVAILABLE',
        message: expect.stringContaining('This database "a" was removed') as string,
      });
    });

    it.each<[string, Partial<NewTag>, string]>([
      ['a step of 0', { step: 0 }, 'LEAF_BODY_INVALID'],
      ['a pattern that cannot be read', { order: 'gapless', pattern: '{nothing}' }, 'LEAF_BODY_INVALID'],
    ])('creates nothing with %s', async (_, more, code) => {
      await expect(create('order', more)).rejects.toMatchObject({ code });
      expect(await tags.list()).toStrictEqual([]);
    });

    it.each<[string, Partial<NewTag>, bigint]>([
      ['at the end of its record', {}, 50n],
      ['at a higher maxId', { maxId: 60n }, 60n],
      ['at the end of its record, with a max', { max: 100n }, 50n],
      ['with periods: as if it were new', { reset: 'daily' }, 1n],
      ['with periods: at its maxId', { reset: 'daily', maxId: 3n }, 3n],
    ])('a deleted tag begins again %s', async (_, more, maxId) => {
      await record('order', 5n, 50n);
      expect(await create('order', more)).toMatchObject({ maxId });
      const [row] = await execute<{ at: string; seen: string }[]>(
        'SELECT COALESCE(next_id, max_id) AS at, CAST(max_id AS TEXT) AS seen FROM leaf_alloc',
      );
      expect(row).toMatchObject({ at: Number(maxId) });
      const isHidden = more.max !== undefined || more.reset !== undefined;
      expect(row!.seen).toBe(String(isHidden ? MAX_ID : maxId));
    });

    it('a deleted tag with periods begins at its maxId, and lost periods above its record', async () => {
      await record('order@', 5n, 50n);
      expect(await create('order', { reset: 'daily', maxId: 3n })).toMatchObject({ maxId: 3n });
      expect(await execute('SELECT next_id, period_start FROM leaf_alloc')).toEqual([{ next_id: 50, period_start: 3 }]);
    });

    it('a deleted interleaved tag begins again above the limits of all its shares', async () => {
      await record('order', 5n, 50n);
      // They end at 5 + 3 * 45 = 140; this share has the blocks from 121 and from 151 on.
      expect(await create('order', { interleave: SHARE })).toMatchObject({ maxId: 151n });
    });

    it.each<[Partial<NewTag>, string, string]>([
      [
        { maxId: 49n },
        'LEAF_MAX_ID_BACKWARDS',
        'Tag "order" has issued IDs up to 49: maxId must be at least 50, not 49.',
      ],
      [
        { order: 'strict' },
        'LEAF_TAG_EXISTS',
        'A tag "order" was deleted, and servers may still issue its buffered IDs, which would break the order of a strict tag with this name. Choose another name.',
      ],
    ])('a deleted tag does not begin again with %s', async (more, code, message) => {
      await record('order', 5n, 50n);
      await expect(create('order', more)).rejects.toMatchObject(refused(code, message));
      expect(await tags.list()).toStrictEqual([]);
    });

    it('begins above what other databases remember, and asks them after its INSERT', async () => {
      await record('order', 5n, 50n);
      const above = (maxId: bigint, tag = 'order'): Promise<TagRow> =>
        tags.createAbove({ tag, step: 10 }, async () => {
          expect(await execute(`SELECT biz_tag FROM leaf_alloc WHERE biz_tag = '${tag}'`)).toHaveLength(1);
          return maxId;
        });
      expect(await above(70n)).toMatchObject({ maxId: 70n });
      await execute('DELETE FROM leaf_alloc');
      expect(await above(20n)).toMatchObject({ maxId: 50n });
      expect(await above(20n, 'other')).toMatchObject({ maxId: 20n });
    });
  });

  describe('a gapless tag', () => {
    const heads = (): Promise<object[]> => execute('SELECT biz_tag, period, next_number, epoch FROM leaf_number_head');
    const server = (generation: number): Promise<unknown> =>
      execute(
        `INSERT INTO leaf_segment_server (id, server, largest_step, generation) VALUES (1, 'a', 10, ${generation})`,
      );

    it.each([
      [undefined, 0],
      [5, 0],
      [2_000_000_005, 2],
    ])('begins its numbers in the present epoch: generation %s, epoch %d', async (generation, epoch) => {
      if (generation !== undefined) await server(generation);
      await create('invoice', { order: 'gapless', maxId: 7n });
      await create('order');
      expect(await heads()).toEqual([{ biz_tag: 'invoice', period: '', next_number: 7, epoch }]);
    });

    it('keeps the numbers of a row that was deleted by hand', async () => {
      await create('invoice', { order: 'gapless' });
      await execute('UPDATE leaf_number_head SET next_number = 9', 'DELETE FROM leaf_alloc');
      await create('invoice', { order: 'gapless' });
      expect(await heads()).toMatchObject([{ next_number: 9 }]);
    });

    it('is deleted with its numbering, without a record', async () => {
      for (const tag of ['invoice', 'other']) await create(tag, { order: 'gapless' });
      expect(await tags.remove('invoice')).toMatchObject({ tag: 'invoice', order: 'gapless' });
      expect([await heads(), await records()]).toEqual([[expect.objectContaining({ biz_tag: 'other' })], []]);
      expect(await tags.find('invoice')).toBeUndefined();
    });

    it('is not deleted once a document has a number of it', async () => {
      for (const tag of ['invoice', 'other']) await create(tag, { order: 'gapless' });
      const columns = await execute<{ name: string; notnull: number; type: string }[]>(
        'SELECT name, "notnull", type FROM pragma_table_info(\'leaf_number\')',
      );
      const values = columns.map(({ name, type }) => (name === 'biz_tag' ? "'invoice'" : /int/i.test(type) ? 1 : "''"));
      await execute(`INSERT INTO leaf_number VALUES (${values.join(', ')})`);
      await expect(tags.remove('invoice')).rejects.toMatchObject(
        refused(
          'LEAF_TAG_GAPLESS',
          'Tag "invoice" has given numbers to documents, and their journal belongs to it: it cannot be deleted. Pause it instead.',
        ),
      );
      expect([(await tags.list()).length, (await heads()).length]).toEqual([2, 2]);
      await tags.remove('other');
    });
  });

  describe('a change', () => {
    const change = async (more: TagChange, tag = 'order'): Promise<TagRow> => (await tags.change(tag, more)).after;

    it.each<[string, Partial<NewTag>, TagChange, string, string]>([
      [
        'backwards',
        { maxId: 100n },
        { maxId: 99n },
        'LEAF_MAX_ID_BACKWARDS',
        'Tag "order" has issued IDs up to 99: maxId must be at least 100, not 99.',
      ],
      [
        'of the step above the largest step',
        { maxStep: 20 },
        { step: 21 },
        'LEAF_BODY_INVALID',
        expect.stringContaining('maxStep') as string,
      ],
      [
        'of the maxId of a gapless tag',
        { order: 'gapless' },
        { maxId: 100n },
        'LEAF_BODY_INVALID',
        'maxId of the gapless tag "order" cannot be changed, because that would leave a gap. POST /api/tags/order/continue skips numbers, with a reason.',
      ],
      [
        'of the max of an interleaved tag',
        { interleave: SHARE },
        { max: 100n },
        'LEAF_BODY_INVALID',
        'The tag cannot be stored: "order" is interleaved over several databases, which excludes max. Omit max.',
      ],
    ])('%s is refused', async (_, more, wanted, code, message) => {
      const before = await create('order', more);
      await expect(change(wanted)).rejects.toMatchObject(refused(code, message));
      expect(await tags.find('order')).toEqual(before);
    });

    it('leaves what it does not name, and an interleaved tag without a max', async () => {
      const limits = { maxStep: 20, max: 500n, description: 'orders' };
      await create('order', { ...limits, maxId: 7n });
      expect(await change({ step: 15 })).toMatchObject({ ...limits, maxId: 7n, step: 15 });
      expect(await change({ maxStep: null, max: null, description: '' })).toMatchObject({
        ...{ maxId: 7n, step: 15, maxStep: undefined, max: undefined, description: undefined },
      });
      await create('shared', { interleave: SHARE });
      for (const max of [undefined, null]) {
        expect(await change({ step: 20, ...(max === null && { max }) }, 'shared')).toMatchObject({
          step: 20,
          maxId: 1n,
        });
      }
    });

    it('hides the position from programs that ignore max, and shows it again', async () => {
      const columns = (): Promise<unknown> => execute('SELECT CAST(max_id AS TEXT) AS max_id, next_id FROM leaf_alloc');
      await create('order', { maxId: 7n });
      await change({ max: 500n });
      expect(await columns()).toEqual([{ max_id: String(MAX_ID), next_id: 7 }]);
      await change({ max: null, maxId: 9n });
      expect(await columns()).toEqual([{ max_id: '9', next_id: null }]);
    });

    it('of a tag that has lost IDs raises it above all of them, or not at all', async () => {
      await create('order', { maxId: 7n });
      await record('order', 20n, 50n);
      await expect(change({ maxId: 49n })).rejects.toMatchObject(
        refused('LEAF_MAX_ID_BACKWARDS', 'Tag "order" has issued IDs up to 49: maxId must be at least 50, not 49.'),
      );
      expect(await change({ step: 20 })).toMatchObject({ maxId: 7n });
      expect(await change({ maxId: 50n })).toMatchObject({ maxId: 50n });
      // Not behind its record any more.
      await execute('UPDATE leaf_alloc SET max_id = 20');
      expect(await change({ maxId: 21n })).toMatchObject({ maxId: 21n });
    });

    it('of a tag with periods keeps where lost ones begin, and applies limits to all its periods', async () => {
      const daily = { reset: 'daily', zone: 'UTC', maxId: 5n } as const;
      for (const tag of ['a_b', 'axb', 'A_B']) await create(tag, daily);
      for (const row of ['a_b@1', 'a_b@2', 'axb@1', 'A_B@1']) {
        await execute(`INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('${row}', 1, 10)`);
      }
      await record('a_b', 500n, 900n);
      await execute("UPDATE leaf_alloc SET next_id = 300 WHERE biz_tag = 'a_b'");
      expect(await change({ step: 20, maxStep: 30, max: 99n, maxId: 8n }, 'a_b')).toMatchObject({
        maxId: 8n,
        step: 20,
      });
      const limits = 'SELECT biz_tag, step, max_step, last_id FROM leaf_alloc WHERE step = 20 ORDER BY biz_tag';
      const changed = { step: 20, max_step: 30, last_id: 99 };
      expect(await execute(limits)).toEqual(['a_b', 'a_b@1', 'a_b@2'].map((biz_tag) => ({ biz_tag, ...changed })));
      expect(await execute("SELECT next_id, period_start FROM leaf_alloc WHERE biz_tag = 'a_b'")).toEqual([
        { next_id: 300, period_start: 8 },
      ]);
      await create('plain');
      await execute("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('plain@1', 1, 10)");
      await change({ step: 77 }, 'plain');
      expect(await execute("SELECT step FROM leaf_alloc WHERE biz_tag = 'plain@1'")).toEqual([{ step: 10 }]);
    });
  });

  describe('a deletion', () => {
    it.each<[string, Partial<NewTag>, string | undefined, object]>([
      ['that no server has used', {}, undefined, { biz_tag: 'order', max_id: '7', issue_limit: null }],
      ['that was used', {}, 'issue_limit = 50', { biz_tag: 'order', max_id: '7', issue_limit: '7' }],
      ['with a max', { max: 90n }, 'issue_limit = 50', { biz_tag: 'order', max_id: '7', issue_limit: '7' }],
      ['with periods', { reset: 'daily' }, 'next_id = 300', { biz_tag: 'order@', max_id: '300', issue_limit: null }],
    ])('leaves the end of a tag on record: %s', async (_, more, change, expected) => {
      await create('order', { maxId: 7n, ...more });
      if (change?.includes('issue_limit')) await record('order', 3n, 50n);
      if (change !== undefined) await execute(`UPDATE leaf_alloc SET ${change}`);
      expect(await tags.remove('order')).toMatchObject({ tag: 'order', maxId: 7n });
      expect(await records()).toEqual([expected]);
      expect(await tags.find('order')).toBeUndefined();
    });

    it('of a row that went back keeps what its record has', async () => {
      await create('order', { maxId: 7n });
      await execute('UPDATE leaf_alloc SET issue_limit = 40');
      await record('order', 20n, 50n);
      await tags.remove('order');
      expect(await records()).toEqual([{ biz_tag: 'order', max_id: '20', issue_limit: '50' }]);
    });

    it('of a tag that is not there is refused', async () => {
      await expect(tags.remove('order')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
      await expect(tags.change('order', { step: 5 })).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    });
  });
});

describe('compareNames', () => {
  it('orders names by their bytes', () => {
    expect(['b', 'ä', 'a', 'B', 'aa'].sort(compareNames)).toEqual(['B', 'a', 'aa', 'b', 'ä']);
  });
});

describe('highest', () => {
  it.each([
    [undefined, undefined, undefined],
    [5n, undefined, 5n],
    [undefined, 5n, 5n],
    [5n, 7n, 7n],
    [7n, 5n, 7n],
  ])('of %s and %s is %s', (one, other, expected) => {
    expect(highest(one, other)).toBe(expected);
  });
});
