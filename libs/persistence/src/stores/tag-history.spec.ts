import { connect } from '../../../../test/support/contract/sql-stores';
import { createGuard } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { SQLITE_TAGS } from '../dialects/sqlite/sqlite';
import { type AllocRow, readRows, type UsableRow } from './alloc-row';
import { isBeyondLimit, needsAdmission, TagHistory } from './tag-history';

const MAX = '9223372036854775807';
const NEAR_MAX = '9223372036854775802';
/** The gap of a failover. */
const GAP = 10_000_000;
/** With a step of 10, a limit is raised by this. */
const AHEAD = 2560;

type Value = string | number | null;
/** A row: its position and its limit; and columns besides them. */
type Row = readonly [position: Value, limit: Value, columns?: Readonly<Record<string, Value>>];
/** A record: what was issued at least, and its limit. */
type Known = readonly [issued: Value, limit: Value];

const SHARE = { max_id: MAX, interleave_of: 2, interleave_remainder: 1, interleave_block: 10 };

describe('TagHistory', () => {
  let database: LeafDataSource;
  let messages: string[];
  let history: TagHistory;

  beforeEach(async () => {
    database = await connect(parseDatabaseUrl('sqlite::memory:'));
    await execute('DELETE FROM leaf_alloc');
    messages = [];
    const guard = createGuard(database, { gapSteps: 10, onFailover: (text) => messages.push(text) });
    history = new TagHistory(database.access, SQLITE_TAGS, guard);
  });
  afterEach(() => database.destroy());

  const execute = <Rows>(sql: string): Promise<Rows> => database.query<Rows>(sql);
  async function insert(table: string, row: Readonly<{ [column: string]: Value }>): Promise<void> {
    const values = Object.values(row).map((value) => (value === null ? 'NULL' : String(value)));
    await execute(`INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${values.join(', ')})`);
  }
  async function given([position, issue_limit, columns = {}]: Row, record?: Known, tag = 'order'): Promise<void> {
    const where = 'max_id' in columns ? { next_id: position } : { max_id: position };
    const update_time = "'2020-01-01 00:00:00'";
    await insert('leaf_alloc', { biz_tag: `'${tag}'`, step: 10, ...where, issue_limit, update_time, ...columns });
    if (record !== undefined) await givenRecord(record, tag);
  }
  const givenRecord = ([max_id, issue_limit]: Known, tag = 'order'): Promise<void> =>
    insert('leaf_deleted_tag', { biz_tag: `'${tag}'`, max_id, issue_limit });
  async function valuesOf(columns: string, table: string): Promise<Value[]> {
    const [row] = await execute<{ values: string }[]>(`SELECT json_array(${columns}) AS "values" FROM ${table}`);
    return row === undefined ? [] : (JSON.parse(row.values.replace(/\d{17,}/g, '"$&"')) as Value[]);
  }
  const row = (): Promise<Value[]> => valuesOf('COALESCE(next_id, max_id), issue_limit', 'leaf_alloc');
  const record = (): Promise<Value[]> => valuesOf('max_id, issue_limit', 'leaf_deleted_tag');
  const isNew = async (): Promise<boolean> => (await valuesOf("update_time > '2026-01-01'", 'leaf_alloc'))[0] === 1;
  async function readRow(tag = 'order'): Promise<UsableRow> {
    const [found] = await readRows((sql, parameters = []) => database.access.run(sql, parameters), SQLITE_TAGS, tag);
    return found as UsableRow;
  }
  const lost = (from: Value, to: Value, tag = 'order'): string =>
    `Tag "${tag}" in sqlite::memory: (nothing lasts) lost its history: its row was deleted and inserted again, or an older row was restored. The tag was moved forward from ID ${from} to ID ${to}, above everything that any server may have issued.`;

  it.each<[string, Row, Known | undefined, limit: Value]>([
    ['new', [1, null], undefined, 1 + AHEAD],
    ['new, with a max', [1, null, { last_id: 16_000 }], undefined, 1001],
    ['new, with a large max', [1, null, { last_id: 1_000_000 }], undefined, 1 + AHEAD],
    ['new, with a small max', [1, null, { last_id: 100 }], undefined, 11],
    ['new, with a max below its step', [1, null, { last_id: 5 }], undefined, 6],
    ['above its max', [200, null, { last_id: 100 }], undefined, 200],
    ['at the end of all IDs', [NEAR_MAX, null], undefined, MAX],
    ['where its record ends', [80, null], [50, 80], 80 + AHEAD],
    ['above its record', [200, null], [50, 80], 200 + AHEAD],
    ['where its deleted tag ended', [50, null], [50, null], 50 + AHEAD],
  ])('admits a row that is %s, where it is', async (_, before, known, limit) => {
    await given(before, known);
    expect(await history.admit('order')).toBe(false);
    expect([await row(), await record()]).toEqual([
      [before[0], limit],
      [before[0], limit],
    ]);
    expect([messages, await isNew()]).toEqual([[], true]);
  });

  it.each<[string, Row, Known | undefined, to: number]>([
    ['inserted again', [1, null], [50, 80], 80 + GAP],
    ['restored', [20, 30], [50, 80], 80 + GAP],
    ['restored, above its record', [90, 95], [95, 80], 95 + GAP],
    ['restored, without its record', [11, 30], undefined, 11 + GAP],
    ['restored, with a record of other software', [11, 30], [5, null], 11 + GAP],
    ['inserted again, with a max', [1, null, { last_id: 99_999 }], [50, 80], 80],
    ['restored, with a max', [20, 30, { last_id: 99_999_999 }], [50, 80], 80 + GAP],
  ])('moves a row that was %s', async (_, before, known, to) => {
    await given(before, known);
    expect(await history.admit('order')).toBe(true);
    const [position, limit] = await row();
    expect([position, await record()]).toEqual([to, [to, limit]]);
    expect(limit).toBeGreaterThanOrEqual(to + AHEAD);
    expect([messages, await isNew()]).toEqual([[lost(before[0], to)], true]);
  });

  it.each<[string, Known]>([
    ['without a limit', [50, null]],
    ['with that limit', [50, 50]],
    ['with a lower limit', [50, 20]],
  ])('continues a deleted tag where its record ends, %s', async (_, known) => {
    await given([1, null], known);
    expect(await history.admit('order')).toBe(false);
    expect([await row(), messages]).toEqual([[50, 50 + AHEAD], []]);
  });

  it('moves a period to the end of its record', async () => {
    await given([1, null, { max_id: MAX }], [50, 80], 'order@2026');
    expect(await history.admit('order@2026')).toBe(true);
    expect([await row(), messages]).toEqual([[80, 80 + AHEAD], [lost(1, 80, 'order@2026')]]);
  });

  it('moves an interleaved tag by its own positions', async () => {
    // The blocks 11-20, 31-40 …
    await given([1, null, SHARE], [31, 51]);
    expect(await history.admit('order')).toBe(true);
    const [position, limit] = await row();
    const idOf = (place: number): number => (place - 1) * 2 + 11;
    expect(position).toBe(21 + GAP);
    expect(limit).toBe(21 + GAP + AHEAD);
    expect(await record()).toEqual([idOf(21 + GAP), idOf(21 + GAP + AHEAD)]);
    expect(messages).toEqual([lost(11, idOf(21 + GAP))]);
  });

  it('moves a row above what its caller has had, and leaves a higher one', async () => {
    await given([11, 100], [1, 100]);
    expect(await history.admit('order', 11n)).toBe(false);
    expect([await row(), await record(), await isNew()]).toEqual([[11, 100], [1, 100], false]);
    expect(await Promise.all([history.admit('order', 12n), history.admit('order', 12n)])).toEqual([true, true]);
    expect(await row()).toEqual([100 + GAP, 100 + GAP + AHEAD]);
    expect(await history.admit('order', 20_000_000n)).toBe(true);
    expect(await row()).toEqual([20_000_000 + GAP, 20_000_000 + GAP + AHEAD]);
    expect(messages).toEqual([lost(11, 100 + GAP), lost(100 + GAP, 20_000_000 + GAP)]);
  });

  it('moves even a row whose record is exact when its caller has had more', async () => {
    await given([11, null], [50, 50]);
    expect(await history.admit('order', 60n)).toBe(true);
    expect(await row()).toEqual([60 + GAP, 60 + GAP + AHEAD]);
  });

  it.each<[string, Known | undefined, after: Value[]]>([
    ['leaves no record', undefined, []],
    ['keeps its record', [50, null], [50, null]],
    ['keeps its limit', [0, 20], [0, 20]],
  ])('%s of a tag without a row', async (_, known, after) => {
    if (known !== undefined) await givenRecord(known);
    expect(await history.admit('order', 5n)).toBe(false);
    expect(await record()).toEqual(after);
  });

  it('leaves a row that cannot be used', async () => {
    await given([11, null, { step: 0 }]);
    expect(await history.admit('order')).toBe(false);
    expect([await row(), await record()]).toEqual([[11, null], []]);
  });

  it.each<[string, Row, Known, row: Value[], record: Value[]]>([
    ['one near its beginning', [11, 11], [1, 11], [11, 11 + AHEAD], [1, 11 + AHEAD]],
    ['one with a history', [10_001, 10_001], [1, 10_001], [10_001, 12_561], [10_001 - AHEAD / 2, 12_561]],
    ['one whose record is higher', [10_001, 10_001], [9000, 20_000], [10_001, 12_561], [9000, 20_000]],
    ['one whose record has no limit', [11, 11], [1, null], [11, 11 + AHEAD], [1, 11 + AHEAD]],
    ['one with a max', [11, 11, { last_id: 26 }], [1, 11], [11, 21], [6, 21]],
  ])('extends the limit of %s', async (_, before, known, after, recorded) => {
    await given(before, known);
    await history.extend('order', await readRow(), 10n);
    expect([await row(), await record()]).toEqual([after, recorded]);
  });

  it('extends the limit by a multiple of what is asked', async () => {
    await given([11, 11], [1, 11]);
    await history.extend('order', await readRow(), 100n);
    expect(await row()).toEqual([11, 11 + 25_600]);
  });

  it('extends the limit of an interleaved tag by its blocks, and records IDs', async () => {
    await given([1001, 1001, { ...SHARE, interleave_block: 20 }], [21, 2021]);
    await history.extend('order', await readRow(), 10n);
    expect(await row()).toEqual([1001, 1001 + 5120]);
    expect(await record()).toEqual([21, 21 + 2 * 6120]);
  });

  it.each<[string, meanwhile: string, row: Value[], record: Value[]]>([
    ['its limit was raised', 'UPDATE leaf_alloc SET issue_limit = 90000', [10_001, 90_000], [8721, 12_561]],
    ['its IDs were given back', 'UPDATE leaf_alloc SET max_id = 8721', [8721, 12_561], [8721, 12_561]],
    ['it went back', 'UPDATE leaf_alloc SET max_id = 8720', [8720, 10_001], [1, 10_001]],
    ['its record was lost', 'DELETE FROM leaf_deleted_tag', [10_001, 10_001], []],
    ['it was deleted', 'DELETE FROM leaf_alloc', [], [1, 10_001]],
  ])('extends no limit beyond the record when %s meanwhile', async (_, meanwhile, after, recorded) => {
    await given([10_001, 10_001], [1, 10_001]);
    const read = await readRow();
    await execute(meanwhile);
    await history.extend('order', read, 10n);
    expect([await row(), await record()]).toEqual([after, recorded]);
  });

  it.each<[Known | undefined, next: bigint, after: Value[]]>([
    [undefined, 50n, [50, 50 + GAP]],
    [undefined, BigInt(NEAR_MAX), [NEAR_MAX, MAX]],
    [[20, 30], 50n, [50, 30]],
    [[60, 70], 50n, [60, 70]],
  ])('records the end of a deleted tag beside %j, at %d', async (known, next, after) => {
    if (known !== undefined) await givenRecord(known);
    await history.recordDeleted('order', next);
    expect(await record()).toEqual(after);
  });
});

describe('a row that was read', () => {
  const read = (columns: Partial<AllocRow>): UsableRow => ({
    ...{ max_id: '50', valid: 1, step: 10, max_step: null, issue_limit: '100', deleted: '50', deleted_limit: '100' },
    ...{ last_id: null, ordering: null, reset_every: null, time_zone: null },
    ...{ interleave_of: null, interleave_remainder: null, interleave_block: null },
    ...(columns as { max_id: string; step: number }),
  });

  it.each<[boolean, Partial<AllocRow>]>([
    [false, {}],
    [false, { deleted: null }],
    [true, { issue_limit: null }],
    [true, { deleted_limit: null }],
    [true, { max_id: '49' }],
    [false, { max_id: '21', interleave_of: 2, interleave_remainder: 1, interleave_block: 10 }],
    [true, { max_id: '11', deleted: '32', interleave_of: 2, interleave_remainder: 1, interleave_block: 10 }],
  ])('needs admission: %s for %j', (needed, columns) => {
    expect(needsAdmission('order', read(columns))).toBe(needed);
  });

  it('is beyond its limit with the first position at it', () => {
    expect([50n, 51n].map((size) => isBeyondLimit(read({}), size))).toEqual([false, true]);
    expect(isBeyondLimit(read({ issue_limit: null }), 1n)).toBe(true);
  });
});
