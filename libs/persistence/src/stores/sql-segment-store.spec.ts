import { type Allocation, LeafError, MAX_ID, type NewTag } from '@leaf-ids/core';
import { connect } from '../../../../test/support/contract/sql-stores';
import { REFUSED } from '../../../../test/support/http/refusal';
import { createGuard, createTagStore } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { SQLITE_TAGS } from '../dialects/sqlite/sqlite';
import { SqliteSegmentStore } from '../dialects/sqlite/sqlite-segment-store';
import type { FailoverGuard } from '../failover/failover-guard';

const SHARE = { of: 2, remainder: 0, block: 10 };
const CHANGED = {
  code: 'LEAF_STORE_UNAVAILABLE',
  message: 'The row of tag "order" was changed concurrently; retry the request.',
  retryAfterMs: 1000,
};

describe('SqlSegmentStore', () => {
  let database: LeafDataSource;
  let guard: FailoverGuard;
  let store: SqliteSegmentStore;
  let moved: string[];
  beforeEach(async () => {
    moved = [];
    database = await connect(parseDatabaseUrl('sqlite::memory:'));
    await execute('DELETE FROM leaf_alloc');
    newServer();
  });
  afterEach(() => database.destroy());

  function newServer(gapSteps = 10): SqliteSegmentStore {
    guard = createGuard(database, { gapSteps, onFailover: (text) => moved.push(text) });
    store = new SqliteSegmentStore(database.access, guard, SQLITE_TAGS);
    return store;
  }
  async function execute<Rows = unknown>(...statements: string[]): Promise<Rows> {
    let rows: unknown;
    for (const sql of statements) rows = await database.query(sql);
    return rows as Rows;
  }
  const create = (tag: string, more: Partial<NewTag> = {}): Promise<unknown> =>
    createTagStore(database).create({ tag, step: 10, ...more });
  const insert = (tag: string, columns = 'max_id, step', values = '1, 10'): Promise<unknown> =>
    execute(`INSERT INTO leaf_alloc (biz_tag, ${columns}) VALUES ('${tag}', ${values})`);
  const first = async (tag = 'order', size?: number): Promise<bigint> => (await store.allocate(tag, size)).from;
  const position = async (tag = 'order'): Promise<unknown> => {
    const [row] = await execute<object[]>(
      `SELECT COALESCE(next_id, max_id) AS position FROM leaf_alloc WHERE biz_tag = '${tag}'`,
    );
    return row && Object.values(row)[0];
  };
  /** No statement moves the position of a row, as if another server were always faster. */
  const freeze = (): Promise<unknown> =>
    execute(`CREATE TRIGGER faster BEFORE UPDATE ON leaf_alloc
      WHEN NEW.max_id <> OLD.max_id OR NEW.next_id <> OLD.next_id BEGIN SELECT RAISE(IGNORE); END`);
  /** The statements that begin like this, from now on. */
  function statements(beginning: RegExp): () => number {
    const run = jest.spyOn(database.access, 'run');
    run.mockClear();
    return () => run.mock.calls.filter(([sql]) => beginning.test(sql)).length;
  }
  const ALLOCATIONS = /^UPDATE leaf_alloc\s+SET max_id/;

  describe('an allocation', () => {
    it('gives up after 20 attempts while others are faster', async () => {
      await create('order');
      await first();
      await freeze();
      const attempts = statements(ALLOCATIONS);
      const followed = jest.spyOn(guard, 'follow');
      await expect(first()).rejects.toMatchObject(CHANGED);
      expect([attempts(), followed.mock.calls.length]).toEqual([20, 20]);
    });

    it('looks once whether a failover explains a tag that is not there', async () => {
      await create('other');
      await first('other');
      const followed = jest.spyOn(guard, 'follow');
      await expect(first()).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
      expect(followed).toHaveBeenCalledTimes(1);
      newServer(0);
      await expect(first()).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
    });

    it('takes what has changed while it looked', async () => {
      await create('other');
      await first('other');
      jest.spyOn(guard, 'follow').mockImplementationOnce(async () => {
        await create('order', { maxId: 7n });
        return true;
      });
      expect(await store.allocate('order', 5)).toEqual({ from: 7n, to: 11n, step: 10 });
    });

    it('looks again when it is refused after it was too slow', async () => {
      await create('order');
      await first();
      await freeze();
      const changes = [
        [
          'DROP TRIGGER faster',
          'ALTER TABLE leaf_alloc RENAME TO away',
          'CREATE TABLE leaf_alloc AS SELECT * FROM away LIMIT 0',
        ],
        ['INSERT INTO leaf_alloc SELECT * FROM away'],
      ];
      const followed = jest.spyOn(guard, 'follow');
      for (const change of changes) {
        followed.mockImplementationOnce(async () => {
          await execute(...change);
          return true;
        });
      }
      expect(await first()).toBe(11n);
      expect(followed).toHaveBeenCalledTimes(2);
    });

    it('says that the row has lost its history, and only then', async () => {
      await create('order');
      expect(await store.allocate('order', undefined)).toEqual({ from: 1n, to: 10n, step: 10 });
      await execute('UPDATE leaf_alloc SET max_id = 1', 'UPDATE leaf_deleted_tag SET max_id = 11');
      expect(await store.allocate('order', 5)).toMatchObject({ wentBack: true });
      expect(await store.allocate('order', 5)).not.toHaveProperty('wentBack');
      expect(moved).toEqual([expect.stringContaining('lost its history')]);
    });

    it('is repeated when an older database may have answered', async () => {
      await create('order');
      jest.spyOn(guard, 'confirm').mockResolvedValueOnce(false);
      expect(await first()).toBe(11n);
      expect(await first()).toBe(21n);
    });

    it('raises the limit of the tag, and nothing else, before it goes beyond', async () => {
      await create('order');
      await first();
      await execute('UPDATE leaf_alloc SET issue_limit = 15', 'UPDATE leaf_deleted_tag SET issue_limit = 15');
      const followed = jest.spyOn(guard, 'follow');
      expect(await first('order', 4)).toBe(11n);
      expect(await execute('SELECT issue_limit FROM leaf_alloc')).toEqual([{ issue_limit: 15 }]);
      expect(await first('order', 1)).toBe(15n);
      expect(await execute('SELECT issue_limit > 1000 AS raised FROM leaf_alloc')).toEqual([{ raised: 1 }]);
      expect([followed.mock.calls, moved]).toEqual([[], []]);
    });

    it.each([
      ['a plain tag', {}],
      ['an interleaved tag', { interleave: SHARE }],
    ])('is refused from two rows of %s', async (_, more) => {
      await create('order', more);
      await first();
      await execute('CREATE TABLE twice AS SELECT * FROM leaf_alloc', 'DROP TABLE leaf_alloc');
      await execute('ALTER TABLE twice RENAME TO leaf_alloc', 'INSERT INTO leaf_alloc SELECT * FROM leaf_alloc');
      for (const server of [store, newServer()]) {
        await expect(server.allocate('order', 1)).rejects.toMatchObject({
          code: 'LEAF_TAG_ROW_INVALID',
          message: expect.stringContaining('leaf_alloc has 2 rows for the tag "order"') as string,
        });
      }
    });

    it('is refused beyond the last ID', async () => {
      await create('order', { max: 12n });
      expect(await first()).toBe(1n);
      const followed = jest.spyOn(guard, 'follow');
      await expect(first()).rejects.toMatchObject({
        code: 'LEAF_TAG_EXHAUSTED',
        message: 'Tag "order" is at 11: 10 more IDs would exceed its last ID, 12. Raise its max, or create a new tag.',
      });
      expect(followed).toHaveBeenCalledTimes(1);
    });
  });

  describe('of an interleaved tag', () => {
    beforeEach(() => create('order', { interleave: SHARE }));

    it('is one update from the second time on', async () => {
      expect(await store.allocate('order', 11)).toEqual({
        ...{ from: 1n, to: 10n, step: 10, maxStep: undefined },
        more: [{ from: 21n, to: 30n }],
      });
      const updates = statements(/^UPDATE leaf_alloc/);
      expect(await store.allocate('order', undefined)).toMatchObject({ from: 41n, to: 50n, more: [] });
      expect(updates()).toBe(1);
    });

    it('tells its largest step', async () => {
      await createTagStore(database).change('order', { maxStep: 40 });
      expect(await store.allocate('order', 1)).toMatchObject({ step: 10, maxStep: 40 });
    });

    it('gives up after 20 attempts while others are faster', async () => {
      await first();
      await freeze();
      const attempts = statements(ALLOCATIONS);
      const followed = jest.spyOn(guard, 'follow');
      await expect(first()).rejects.toMatchObject(CHANGED);
      expect([attempts(), followed.mock.calls.length]).toEqual([20, 20]);
    });

    it('is repeated when an older database may have answered', async () => {
      await first();
      jest.spyOn(guard, 'confirm').mockResolvedValueOnce(false);
      expect(await first()).toBe(41n);
    });

    it('moves on after a failover', async () => {
      await first();
      await execute("UPDATE leaf_segment_server SET server = 'another one'");
      expect(await first()).toBeGreaterThan(10_000_000n);
      expect(moved).toEqual([expect.stringContaining('a replica was promoted')]);
    });

    it('says that the row has lost its history, and only then', async () => {
      await first();
      await execute('UPDATE leaf_alloc SET next_id = 1', 'UPDATE leaf_deleted_tag SET max_id = 21');
      expect(await store.allocate('order', 1)).toMatchObject({ wentBack: true });
      expect(await store.allocate('order', 1)).not.toHaveProperty('wentBack');
    });

    it('raises its limit before it goes beyond', async () => {
      await first();
      await execute('UPDATE leaf_alloc SET issue_limit = 15', 'UPDATE leaf_deleted_tag SET issue_limit = 31');
      expect(await first()).toBe(21n);
      expect(await execute('SELECT issue_limit > 1000 AS raised FROM leaf_alloc')).toEqual([{ raised: 1 }]);
      expect(moved).toStrictEqual([]);
    });

    it('is refused at the end of all IDs', async () => {
      await execute('UPDATE leaf_alloc SET next_id = 4611686018427387891');
      expect(await store.allocate('order', 100)).toMatchObject({ from: 9223372036854775781n, more: [] });
      await expect(first()).rejects.toMatchObject({
        code: 'LEAF_TAG_EXHAUSTED',
        message: expect.stringContaining('10 more IDs would exceed its last ID, 9223372036854775806') as string,
      });
    });

    it('is refused from a block that ends at 2^63 - 1, which is not an ID', async () => {
      await createTagStore(database).remove('order');
      await create('last', { interleave: { ...SHARE, block: 7 } });
      await execute('UPDATE leaf_alloc SET next_id = 4611686018427387901');
      await expect(first('last')).rejects.toEqual(REFUSED('LEAF_TAG_EXHAUSTED'));
    });

    it.each([
      ['is gone', 'DELETE FROM leaf_alloc', 'LEAF_TAG_NOT_FOUND'],
      ['cannot be used', 'UPDATE leaf_alloc SET step = 0', 'LEAF_TAG_ROW_INVALID'],
    ] as const)('is refused when its row %s', async (_, change, code) => {
      await first();
      await execute(change);
      await expect(first()).rejects.toEqual(REFUSED(code));
    });

    it('is retried when the tag is plain by now', async () => {
      await first();
      await createTagStore(database).remove('order');
      await create('order');
      await expect(first()).rejects.toMatchObject(CHANGED);
      expect(await store.allocate('order', undefined)).toEqual({ from: 21n, to: 30n, step: 10 });
    });
  });

  describe('giving back', () => {
    const range = (from: bigint, to = from + 9n): { from: bigint; to: bigint } => ({ from, to });

    it('takes the last range alone', async () => {
      await create('order');
      await first();
      await first();
      expect(await store.giveBack('order', range(1n))).toBe(false);
      expect(await store.giveBack('order', range(11n))).toBe(true);
      expect(await store.giveBack('order', range(11n))).toBe(false);
      expect(await first()).toBe(11n);
    });

    it('takes whole blocks of its own share, known as interleaved', async () => {
      await create('order', { interleave: SHARE });
      await first();
      await first();
      for (const wrong of [range(21n, 29n), range(22n, 30n), range(11n, 20n), range(1n)]) {
        expect(await store.giveBack('order', wrong)).toBe(false);
      }
      const known = store;
      expect(await newServer().giveBack('order', range(11n))).toBe(false);
      expect(await known.giveBack('order', range(21n))).toBe(true);
      expect(await position()).toBe(11);
    });

    it('takes nothing of what is on record as issued', async () => {
      await create('order');
      await first();
      await execute('UPDATE leaf_deleted_tag SET max_id = 2');
      expect(await store.giveBack('order', range(1n))).toBe(false);
      await execute('UPDATE leaf_deleted_tag SET max_id = 1');
      expect(await store.giveBack('order', range(1n))).toBe(true);
    });

    it('takes nothing after a failover, or from a row that cannot be used', async () => {
      await create('order', { max: 99n });
      await first();
      await execute('UPDATE leaf_alloc SET max_id = 11');
      expect(await store.giveBack('order', range(1n))).toBe(false);
      await execute(
        `UPDATE leaf_alloc SET max_id = ${MAX_ID}`,
        "UPDATE leaf_segment_server SET server = 'another one'",
      );
      expect(await store.giveBack('order', range(1n))).toBe(false);
      await execute("UPDATE leaf_segment_server SET server = 'sqlite'");
      expect(await store.giveBack('order', range(1n))).toBe(true);
      expect(await position()).toBe(1);
    });
  });

  describe('raising', () => {
    it('moves the tag up to the ID, and never down', async () => {
      await create('order');
      await first();
      await execute("UPDATE leaf_alloc SET update_time = '2020-01-01'");
      for (const id of [5n, 11n]) await store.raise('order', id);
      expect(await position()).toBe(11);
      expect(await execute("SELECT update_time FROM leaf_alloc WHERE update_time > '2020-01-01'")).toStrictEqual([]);
      const reads = statements(/^SELECT/);
      await store.raise('order', 12n);
      expect([reads(), await position()]).toEqual([1, 12]);
      expect(await execute("SELECT 1 FROM leaf_alloc WHERE update_time > '2020-01-01'")).toHaveLength(1);
    });

    it('does not wait for the guard', async () => {
      await create('order');
      await first();
      await execute("UPDATE leaf_segment_server SET server = 'another one'");
      await store.raise('order', 12n);
      expect([await position(), moved]).toEqual([12, []]);
    });

    it('moves an interleaved tag to the block with the ID', async () => {
      await create('order', { interleave: SHARE });
      await first();
      await store.raise('order', 42n);
      expect(await first()).toBe(61n);
    });

    it('admits a row that no server has used', async () => {
      await insert('order');
      await store.raise('order', 12n);
      expect(await position()).toBe(12);
      expect(await execute('SELECT 1 FROM leaf_alloc WHERE issue_limit > 0')).toHaveLength(1);
      expect(await first()).toBe(12n);
    });

    it('does nothing where no row can be used', async () => {
      await store.raise('order', 12n);
      await insert('order', 'max_id, step', '5, 0');
      await store.raise('order', 12n);
      expect(await position()).toBe(5);
    });

    it('gives up after 20 attempts while others are faster', async () => {
      await create('order');
      await first();
      await freeze();
      const attempts = statements(ALLOCATIONS);
      await expect(store.raise('order', 12n)).rejects.toMatchObject(CHANGED);
      expect(attempts()).toBe(20);
    });

    it('starts the guard', async () => {
      await create('order');
      await store.raise('order', 12n);
      expect(guard.generation).toBeGreaterThan(0);
    });
  });

  describe('several allocations', () => {
    const requests = (...tags: string[]): { tag: string; size: number }[] => tags.map((tag) => ({ tag, size: 5 }));
    const from = (answers: readonly (Allocation | LeafError)[]): unknown =>
      answers.map((answer) => (answer instanceof LeafError ? answer.code : answer.from));

    it('send nothing for nothing', async () => {
      const sent = statements(/./);
      expect(await store.allocateAll([])).toStrictEqual([]);
      expect(sent()).toBe(0);
    });

    it('are each granted or refused', async () => {
      await create('a');
      await create('c', { interleave: SHARE });
      expect(from(await store.allocateAll(requests('a', 'b', 'c')))).toEqual([1n, 'LEAF_TAG_NOT_FOUND', 1n]);
      expect(from(await store.allocateAll(requests('a', 'b', 'c')))).toEqual([6n, 'LEAF_TAG_NOT_FOUND', 21n]);
    });

    it('keep what was granted before a failure, which refuses the others', async () => {
      for (const tag of ['a', 'b', 'c']) await create(tag);
      await store.allocateAll(requests('a', 'b', 'c'));
      await execute(`CREATE TRIGGER failing BEFORE UPDATE ON leaf_alloc WHEN NEW.biz_tag = 'b'
        BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END`);
      expect(from(await store.allocateAll(requests('a', 'b', 'c')))).toEqual([
        6n,
        'LEAF_STORE_UNAVAILABLE',
        'LEAF_STORE_UNAVAILABLE',
      ]);
      expect(await Promise.all(['a', 'c'].map(position))).toEqual([11, 6]);
    });

    it('are repeated when an older database may have answered', async () => {
      for (const tag of ['a', 'b']) await create(tag);
      await store.allocateAll(requests('a', 'b'));
      const confirmed = jest.spyOn(guard, 'confirm').mockResolvedValueOnce(false);
      expect(from(await store.allocateAll(requests('a', 'b')))).toEqual([11n, 11n]);
      expect(confirmed).toHaveBeenCalledTimes(2);
    });

    it('follow a failover once, for those that are missing', async () => {
      for (const tag of ['a', 'b']) await create(tag);
      await store.allocateAll(requests('a', 'b'));
      await execute("UPDATE leaf_segment_server SET server = 'another one'");
      const followed = jest.spyOn(guard, 'follow');
      expect(from(await store.allocateAll(requests('a', 'b')))).toEqual([10_000_006n, 10_000_006n]);
      expect([followed.mock.calls.length, moved.length]).toEqual([1, 1]);
      const allocations = statements(ALLOCATIONS);
      await store.allocateAll(requests('a', 'b'));
      expect([allocations(), followed.mock.calls.length]).toEqual([2, 1]);
    });

    it('try each again once to learn why it was refused', async () => {
      newServer(0);
      await create('a');
      await first('a');
      const allocations = statements(ALLOCATIONS);
      await store.allocateAll(requests('a', 'b'));
      expect(allocations()).toBe(3);
    });

    it('confirm nothing when nothing was granted', async () => {
      await create('a');
      await first('a');
      const confirmed = jest.spyOn(guard, 'confirm');
      await store.allocateAll(requests('b'));
      expect(confirmed).not.toHaveBeenCalled();
    });
  });

  describe('the directory', () => {
    it('lists tags in pages, with those whose settings cannot be read', async () => {
      const all = Array.from({ length: 501 }, (_, n) => `t${1000 + n}`);
      for (const tag of all) await insert(tag);
      await execute("UPDATE leaf_alloc SET ordering = 'sideways' WHERE biz_tag = 't1400'");
      const yielded = jest.spyOn(database.access, 'yieldToEventLoop');
      const sizes: number[] = [];
      const listed = [];
      for await (const page of store.tagPages()) {
        sizes.push(page.length);
        listed.push(...page);
      }
      expect([sizes, yielded.mock.calls.length]).toEqual([[250, 250, 1], 2]);
      expect(listed.map(({ tag }) => tag)).toEqual(all);
      expect(await store.listTags()).toEqual(listed);
      expect(listed.filter(({ kind }) => kind === undefined)).toEqual([{ tag: 't1400', kind: undefined }]);
      expect(await store.findTag('t1400')).toEqual({ tag: 't1400', kind: undefined });
      expect(await store.findTag('t1000')).toMatchObject({ tag: 't1000', kind: { order: 'relaxed' } });
      expect(await store.findTag('t1')).toBeUndefined();
      expect(store.description).toBe('sqlite::memory: (nothing lasts)');
    });

    it('notices that the database went back, and lists the tags of one that cannot be written', async () => {
      await create('order');
      await first();
      const { generation } = guard;
      await store.listTags();
      expect(guard.generation).toBe(generation + 1);
      jest.spyOn(guard, 'advance').mockRejectedValueOnce(new LeafError('LEAF_STORE_UNAVAILABLE', 'full'));
      expect(await store.listTags()).toHaveLength(1);
    });
  });

  it('recovers the IDs of a tag that were issued, according to a server', async () => {
    await create('order');
    await first();
    await store.recover('order', 11n);
    expect(await position()).toBe(11);
    await store.recover('order', 500n);
    expect(await first()).toBeGreaterThan(500n);
    expect(moved).toHaveLength(1);
  });
});
