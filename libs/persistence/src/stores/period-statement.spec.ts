import { type NewTag, type Period, PLAIN_TAG, type TagKind } from '@leaf-ids/core';
import { PeriodCalendar, periodOf } from '@leaf-ids/core/internal';
import { connect } from '../../../../test/support/contract/sql-stores';
import { REFUSED } from '../../../../test/support/http/refusal';
import { createGuard, createTagStore } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { SQLITE_TAGS } from '../dialects/sqlite/sqlite';
import { SqliteSegmentStore } from '../dialects/sqlite/sqlite-segment-store';
import type { FailoverGuard } from '../failover/failover-guard';

describe('a period', () => {
  let database: LeafDataSource;
  let guard: FailoverGuard;
  let store: SqliteSegmentStore;
  let moved: string[];
  beforeEach(async () => {
    moved = [];
    database = await connect(parseDatabaseUrl('sqlite::memory:'));
    await execute('DELETE FROM leaf_alloc');
    guard = createGuard(database, { gapSteps: 10, onFailover: (text) => moved.push(text) });
    store = new SqliteSegmentStore(database.access, guard, SQLITE_TAGS);
  });
  afterEach(() => database.destroy());

  async function execute<Rows = unknown>(...statements: string[]): Promise<Rows> {
    let rows: unknown;
    for (const sql of statements) rows = await database.query(sql);
    return rows as Rows;
  }
  const create = (tag: string, more: Partial<NewTag>): Promise<TagKind> =>
    createTagStore(database).create({ tag, step: 10, ...more });
  const first = async (tag: string): Promise<bigint> => (await store.allocate(tag, undefined)).from;
  const today = periodOf('daily', new PeriodCalendar('daily', 'UTC').nameAt(Date.now()));
  const row = `invoice@${today.name}`;
  const begin = (kind: TagKind, period: Period = today, least = 1n): Promise<void> =>
    store.beginPeriod('invoice', kind, period, least);

  it('begins once', async () => {
    const kind = await create('invoice', { reset: 'daily', maxId: 7n });
    const followed = jest.spyOn(guard, 'follow');
    await begin(kind);
    expect(followed).not.toHaveBeenCalled();
    expect(await first(row)).toBe(7n);
    const run = jest.spyOn(database.access, 'run');
    await begin(kind, today, 500n);
    expect(run).not.toHaveBeenCalled();
    expect(await first(row)).toBe(17n);
  });

  it('begins at 1 without a record, and above the gap of one that the caller has seen', async () => {
    const kind = await create('invoice', { reset: 'daily' });
    await begin(kind);
    expect(await execute('SELECT biz_tag FROM leaf_deleted_tag')).toStrictEqual([]);
    await execute(`DELETE FROM leaf_alloc WHERE biz_tag = '${row}'`);
    await begin(kind, today, 500n);
    expect(await first(row)).toBe(10_000_500n);
  });

  it('begins after a failover, which moves its tag first', async () => {
    const kind = await create('invoice', { reset: 'daily' });
    await guard.prepare();
    await execute("UPDATE leaf_segment_server SET server = 'another one'");
    await begin(kind);
    expect(moved).toEqual([expect.stringContaining('a replica was promoted')]);
    expect(await first(row)).toBeGreaterThan(10_000_000n);
  });

  it('begins under the guard, which it starts', async () => {
    await begin(await create('invoice', { reset: 'daily' }));
    expect(guard.generation).toBeGreaterThan(0);
  });

  it.each<[string, Partial<TagKind>]>([
    ['another reset', { reset: 'yearly' }],
    ['another zone', { zone: 'Asia/Tokyo' }],
  ])('does not begin of a tag with %s', async (_, other) => {
    const kind = await create('invoice', { reset: 'daily' });
    await expect(begin({ ...kind, ...other })).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
    await expect(store.beginPeriod('order', kind, today, 1n)).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
  });

  it.each([
    ['at its own start, if it opened more than a day after a failover', -60, 7n],
    ['above the gap, if it may have begun before a failover', 60, 500n],
  ])('begins %s', async (_, seconds, expected) => {
    const kind = await create('invoice', { reset: 'daily', maxId: 7n });
    await guard.prepare();
    const time = Math.floor(today.opensAt / 1000) - 86_400 + seconds;
    await execute(
      'UPDATE leaf_alloc SET next_id = 500',
      `UPDATE leaf_segment_server SET update_time = datetime(${time}, 'unixepoch')`,
    );
    await begin(kind);
    expect(await first(row)).toBe(expected);
  });

  it('of a tag without a zone begins in UTC', async () => {
    const kind = await create('invoice', { reset: 'daily' });
    await execute('UPDATE leaf_alloc SET time_zone = NULL');
    await begin(kind);
    expect(await first(row)).toBe(1n);
  });

  it('of a kind without a zone begins in UTC, and in no other zone', async () => {
    const kind: TagKind = { ...PLAIN_TAG, reset: 'daily' };
    await create('invoice', { reset: 'daily' });
    await begin(kind);
    await create('receipt', { reset: 'daily', zone: 'Asia/Tokyo' });
    await expect(store.beginPeriod('receipt', kind, today, 1n)).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
    await expect(begin(PLAIN_TAG, periodOf('daily', '2020-02-03'))).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
  });

  it.each([
    ['UTC', undefined],
    ['UTC', 'UTC'],
    ['Asia/Tokyo', 'Asia/Tokyo'],
    [null, undefined],
  ])('of a tag in the zone %s does not begin far from the time of the database', async (zone, given) => {
    await create('invoice', { reset: 'daily' });
    await execute(`UPDATE leaf_alloc SET time_zone = ${zone === null ? 'NULL' : `'${zone}'`}`);
    for (const name of ['2020-02-03', '2120-02-03']) {
      const refusal = begin({ ...PLAIN_TAG, reset: 'daily', zone: given }, periodOf('daily', name));
      await expect(refusal).rejects.toMatchObject({
        code: 'LEAF_PERIOD_INVALID',
        message: expect.stringMatching(
          new RegExp(
            `the period of the row "invoice@${name}" is too far from 20[2-9]\\d-.*Z, the current time of the database\\. Compare it with the clock of this server`,
          ),
        ) as string,
      });
    }
  });

  it('does not begin when the collation of the table equals its row with another one', async () => {
    // As MySQL does, with its condition on a tag.
    const binary = { ...SQLITE_TAGS, thisTag: 'CAST(biz_tag AS BLOB) = CAST(? AS BLOB)' };
    const kind = await create('invoice', { reset: 'daily' });
    await execute('ALTER TABLE leaf_alloc RENAME TO plain');
    const [{ sql }] = await execute<[{ sql: string }]>("SELECT sql FROM sqlite_master WHERE name = 'plain'");
    await execute(
      sql
        .replace(/^CREATE TABLE "?plain"?/, 'CREATE TABLE leaf_alloc')
        .replace(/biz_tag varchar\(128\)/, '$& COLLATE NOCASE'),
      'INSERT INTO leaf_alloc SELECT * FROM plain',
    );
    await execute(`INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('${row.toUpperCase()}', 1, 10)`);
    store = new SqliteSegmentStore(database.access, guard, binary);
    await expect(begin(kind)).rejects.toMatchObject({
      code: 'LEAF_TAG_ROW_INVALID',
      message: `The collation of leaf_alloc treats "${row}" as equal to its row "${row.toUpperCase()}", so the period cannot begin. Compare bytes: ALTER TABLE leaf_alloc MODIFY biz_tag varchar(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT ''.`,
    });
  });
});
