import { MAX_ID, type NewTag } from '@leaf-ids/core';
import { connect } from '../../../../test/support/contract/sql-stores';
import { REFUSED } from '../../../../test/support/http/refusal';
import type { Statement } from '../connections/sql-database';
import { createDatabaseNames, createTagRows, createTagStore } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { byTag, type HandedOver, type TagRows } from './tag-rows';

const DESCRIPTION = 'sqlite::memory: (nothing lasts)';
const EARLY = '2020-01-01 00:00:00';
const LATER = '2021-01-01 00:00:00';

type Row = Readonly<Record<string, string | number>>;

/** One of the two databases. */
class Side {
  private constructor(
    readonly database: LeafDataSource,
    readonly rows: TagRows,
  ) {}

  static async open(): Promise<Side> {
    const database = await connect(parseDatabaseUrl('sqlite::memory:'));
    const side = new Side(database, createTagRows(database));
    await side.execute('DELETE FROM leaf_alloc');
    await side.execute(
      `INSERT INTO leaf_segment_server (id, server, largest_step, update_time) VALUES (1, 'a', 10, '${EARLY}')`,
    );
    return side;
  }

  execute<Rows>(sql: string): Promise<Rows> {
    return this.database.query<Rows>(sql);
  }
  readonly statement: Statement = (sql, parameters = []) => this.database.access.run(sql, parameters);

  /** With a position of 11 and a step of 10. */
  async insert(tag: string, columns: Row = {}): Promise<void> {
    const row = { biz_tag: tag, max_id: 11, step: 10, ...columns };
    const values = Object.values(row).map((value) =>
      typeof value === 'number' || /^\d+$/.test(value) ? value : `'${value}'`,
    );
    await this.execute(`INSERT INTO leaf_alloc (${Object.keys(row).join(', ')}) VALUES (${values.join(', ')})`);
  }
  async create(...tags: NewTag[]): Promise<void> {
    for (const tag of tags) await createTagStore(this.database).create(tag);
  }
  async names(): Promise<string[]> {
    const rows = await this.execute<{ biz_tag: string }[]>('SELECT biz_tag FROM leaf_alloc ORDER BY biz_tag');
    return rows.map(({ biz_tag }) => biz_tag);
  }
  /** name, position, limit. */
  tags(): Promise<object[]> {
    return this.execute(`SELECT biz_tag, CAST(COALESCE(next_id, max_id) AS TEXT) AS position, issue_limit
      FROM leaf_alloc ORDER BY biz_tag`);
  }
  records(): Promise<object[]> {
    return this.execute(`SELECT biz_tag, CAST(max_id AS TEXT) AS max_id, CAST(issue_limit AS TEXT) AS issue_limit
      FROM leaf_deleted_tag ORDER BY biz_tag`);
  }
  record(tag: string, maxId: number, limit: number | null): Promise<unknown> {
    return this.execute(
      `INSERT INTO leaf_deleted_tag (biz_tag, max_id, issue_limit) VALUES ('${tag}', ${maxId}, ${limit ?? 'NULL'})`,
    );
  }
  async handOver(tag?: string): Promise<HandedOver> {
    await this.rows.freeze(this.statement, tag);
    return this.rows.handedOver(undefined, tag);
  }
}

describe('TagRows', () => {
  let source: Side;
  let target: Side;
  beforeEach(async () => ([source, target] = [await Side.open(), await Side.open()]));
  afterEach(async () => {
    await source.database.destroy();
    await target.database.destroy();
  });

  it('lists the rows that are not frozen, or those of one tag and its periods', async () => {
    const names = ['a_b', 'a_b@2026', 'axb', 'axb@2026', 'a_', '@a_b', '@a_b@2026'];
    for (const name of names) await source.insert(name);
    const listed = async (tag?: string): Promise<string[]> =>
      (await source.rows.list(tag)).map(({ biz_tag }) => biz_tag).sort();
    expect(await listed()).toEqual(['a_', 'a_b', 'a_b@2026', 'axb', 'axb@2026']);
    expect(await listed('a_b')).toEqual(['a_b', 'a_b@2026']);
    expect(await listed('a_')).toEqual(['a_']);
    expect(await source.rows.movable('axb')).toEqual(['axb', 'axb@2026']);
  });

  it('tells the periods of a tag from those of another one in other letters', async () => {
    for (const name of ['order', 'order@2026', 'ORDER', 'ORDER@2026']) await source.insert(name);
    expect(await source.rows.movable('ORDER')).toEqual(['ORDER', 'ORDER@2026']);
  });

  it.each<[string, Row, string, string]>([
    [
      'an interleaved tag',
      { interleave_of: 2, interleave_remainder: 0, interleave_block: 10 },
      'order',
      'Tag "order" is interleaved, and no other database can issue the blocks of its share here. Nothing was changed. Issue IDs of a new tag instead; then delete "order" with DELETE /api/tags/order, while all databases of the list are up, and run the command again.',
    ],
    [
      'a gapless tag',
      { ordering: 'gapless' },
      'order',
      'Tag "order" is gapless, and the journal of its numbers is in this database: it cannot move. Assign the tag to this database in the option segment.database.shards.tags.',
    ],
    [
      'a tag whose name cannot be longer',
      {},
      'x'.repeat(128),
      `The row "${'x'.repeat(128)}" cannot be moved: its name has more than 127 characters. Nothing was changed. Issue IDs of a new tag with a shorter name instead, delete this one with DELETE /api/tags/${'x'.repeat(128)}, and run the command again.`,
    ],
    [
      'a period whose name cannot be longer',
      {},
      `${'x'.repeat(123)}@2026`,
      `delete this one with DELETE /api/tags/${'x'.repeat(123)}, and run`,
    ],
  ])('does not move %s', async (_, columns, name, message) => {
    await source.insert(name, columns);
    const refusal = { code: 'LEAF_TAG_ROW_INVALID', message: expect.stringContaining(message) as string };
    await expect(source.rows.movable()).rejects.toMatchObject(refusal);
    await expect(source.rows.freeze(source.statement)).rejects.toMatchObject(refusal);
    expect(await source.names()).toEqual([name]);
  });

  it('moves a strict tag, and one whose frozen name is as long as its column', async () => {
    const long = 'x'.repeat(127);
    await source.create({ tag: 'strict', step: 10, order: 'strict' }, { tag: long, step: 10 });
    await source.rows.freeze(source.statement);
    expect(await source.names()).toEqual(['@strict', `@${long}`]);
  });

  it('freezes one tag with its periods, also those that begin meanwhile', async () => {
    for (const name of ['order', 'order@2025', 'other']) await source.insert(name);
    await source.execute(`CREATE TRIGGER begins AFTER UPDATE ON leaf_alloc WHEN NEW.biz_tag = '@order'
      BEGIN INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order@2026', 1, 10); END`);
    await source.rows.freeze(source.statement, 'order');
    expect(await source.names()).toEqual(['@order', '@order@2025', '@order@2026', 'other']);
  });

  it('does not try for ever to rename a row that stays', async () => {
    await source.insert('order');
    await source.execute('CREATE TRIGGER ignoring BEFORE UPDATE ON leaf_alloc BEGIN SELECT RAISE(IGNORE); END');
    await expect(source.rows.freeze(source.statement)).rejects.toMatchObject({
      code: 'LEAF_TAG_ROW_INVALID',
      message: `The row "order" of leaf_alloc in ${DESCRIPTION} cannot be moved: an UPDATE by its name does not change it. Nothing was changed. If its name is not a valid tag, Leaf has never issued IDs of it: delete the row. Otherwise remove the triggers of the table. Then run the command again.`,
    });
  });

  it('hands over the frozen rows and the records, of all tags or of one', async () => {
    for (const name of ['a', 'a@2026', 'b', 'c']) await source.insert(name, { issue_limit: 50 });
    for (const name of ['a', 'a@', 'b', 'gone']) await source.record(name, 5, 7);
    for (const tag of ['a', 'b']) await source.rows.freeze(source.statement, tag);
    const names = (list: readonly { biz_tag: unknown }[]): unknown[] => list.map(({ biz_tag }) => biz_tag).sort();
    const all = await source.rows.handedOver();
    expect(names(all.rows)).toEqual(['a', 'a@2026', 'b']);
    expect(names(all.records)).toEqual(['a', 'a@', 'b', 'gone']);
    expect(all.failedOver).toBe(Date.parse(`${EARLY}Z`) / 1000);
    const one = await source.rows.handedOver(source.statement, 'a');
    expect([names(one.rows), names(one.records)]).toEqual([
      ['a', 'a@2026'],
      ['a', 'a@'],
    ]);
    expect(one.rows[0]).toMatchObject({ position: '11', step: 10, issue_limit: '50' });
    expect(one.records[0]).toEqual({ biz_tag: 'a', max_id: '5', issue_limit: '7' });
  });

  it('has no time of a failover before its first start', async () => {
    await source.execute('DELETE FROM leaf_segment_server');
    expect(await source.rows.handedOver()).toEqual({ rows: [], records: [], failedOver: 0 });
  });

  it('takes over every setting, the limit of the row, and its position beyond 2^53', async () => {
    const big = 2n ** 63n - 200n;
    await source.create(
      { tag: 'big', step: 10, maxStep: 30, max: 2n ** 63n - 100n, maxId: big, description: 'all of it' },
      { tag: 'invoice', step: 10, reset: 'daily', zone: 'Europe/Berlin', maxId: 7n },
      { tag: 'strict', step: 10, order: 'strict' },
    );
    await source.execute("UPDATE leaf_alloc SET issue_limit = 2561 WHERE biz_tag = 'strict'");
    const before = await createTagStore(source.database).list();
    const tags = await source.tags();
    await target.rows.takeOver(await source.handOver());
    expect(await target.tags()).toEqual(tags);
    const updatedAt = expect.any(Number) as number;
    expect(await createTagStore(target.database).list()).toEqual(before.map((row) => ({ ...row, updatedAt })));
  });

  it('raises a row that is there already, and does not lower it', async () => {
    for (const [tag, position] of [
      ['lower', 5],
      ['equal', 11],
      ['higher', 500],
    ] as const) {
      await source.insert(tag);
      await target.insert(tag, { max_id: position, issue_limit: 1000 });
    }
    await source.insert('hidden', { max_id: '9223372036854775807', next_id: 300, last_id: 900 });
    await target.insert('hidden', { max_id: '9223372036854775807', next_id: 200, last_id: 900 });
    const handedOver = await source.handOver();
    for (let time = 0; time < 2; time++) await target.rows.takeOver(handedOver);
    expect(await target.tags()).toEqual([
      { biz_tag: 'equal', position: '11', issue_limit: 1000 },
      { biz_tag: 'hidden', position: '300', issue_limit: null },
      { biz_tag: 'higher', position: '500', issue_limit: 1000 },
      { biz_tag: 'lower', position: '11', issue_limit: 1000 },
    ]);
  });

  it('keeps the higher end of two records', async () => {
    await source.record('new', 5, 50);
    await source.record('open', 6, null);
    await source.record('higher', 500, 5000);
    await source.record('lower', 5, 50);
    await target.record('higher', 5, null);
    await target.record('lower', 500, 5000);
    await target.rows.takeOver(await source.handOver());
    expect(await target.records()).toEqual([
      { biz_tag: 'higher', max_id: '500', issue_limit: '5000' },
      { biz_tag: 'lower', max_id: '500', issue_limit: '5000' },
      { biz_tag: 'new', max_id: '5', issue_limit: '50' },
      { biz_tag: 'open', max_id: '6', issue_limit: null },
    ]);
  });

  it('takes over nothing when its collation equals two names', async () => {
    await target.insert('ORDER');
    await source.insert('order');
    await source.record('gone', 5, 50);
    const handedOver = await source.handOver();
    // As MySQL does for an equal name.
    await target.execute('CREATE TRIGGER equal BEFORE INSERT ON leaf_alloc BEGIN SELECT RAISE(IGNORE); END');
    await expect(target.rows.takeOver(handedOver)).rejects.toMatchObject({
      code: 'LEAF_TAG_EXISTS',
      message: `The row "order" cannot be moved to ${DESCRIPTION}: the collation of its table treats another name as equal. Compare bytes there: ALTER TABLE leaf_alloc MODIFY biz_tag varchar(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT ''. Then run the command again; until then, the tag is refused.`,
    });
    expect([await target.names(), await target.records()]).toEqual([['ORDER'], []]);
  });

  it('takes over nothing when it was taken out of the list itself', async () => {
    const names = createDatabaseNames(target.database);
    await names.add('b');
    await names.mark('b', 'left');
    await source.insert('order');
    await expect(target.rows.takeOver(await source.handOver())).rejects.toEqual(REFUSED('LEAF_STORE_UNAVAILABLE'));
    expect(await target.names()).toStrictEqual([]);
  });

  it.each<[string, Row, string, boolean]>([
    ['a failover moved a tag with periods', { reset_every: 'daily', period_start: 1 }, LATER, true],
    ['its own failover was later', { reset_every: 'daily', period_start: 1 }, EARLY, false],
    ['no failover moved the tag', { reset_every: 'daily', period_start: 11 }, LATER, false],
    ['the tag has no periods', {}, LATER, false],
  ])('has had a failover since, if %s', async (_, columns, failedOver, isNow) => {
    await source.insert('order', columns);
    await source.insert('plain');
    await source.execute(`UPDATE leaf_segment_server SET update_time = '${failedOver}'`);
    await target.rows.takeOver(await source.handOver());
    const [server] = await target.execute<{ update_time: string }[]>('SELECT update_time FROM leaf_segment_server');
    if (isNow) expect(server!.update_time > '2026').toBe(true);
    else expect(server).toEqual({ update_time: EARLY });
  });

  it('forgets frozen rows, and keeps their records', async () => {
    for (const name of ['order', 'order@2026', 'other']) await source.insert(name);
    await source.record('order', 5, 50);
    const { rows } = await source.handOver('order');
    await source.insert('order');
    await source.rows.forget(rows);
    expect(await source.names()).toEqual(['order', 'other']);
    expect(await source.records()).toHaveLength(1);
  });

  it.each<[string, string, Row, string, string]>([
    ['above the gap', 'order', {}, 'order', '211'],
    ['above the gap of its step', 'order', { step: 300 }, 'order', '611'],
    ['above the gap of its largest step', 'order', { max_step: 400 }, 'order', '811'],
    ['at the end of all IDs', 'order', { max_id: '9223372036854775700' }, 'order', String(MAX_ID)],
    ['where it is, with a max', 'order', { last_id: 900 }, 'order', '11'],
    ['where it is, with periods', 'order', { reset_every: 'daily' }, 'order@', '11'],
    ['where it is, as a period', 'order@2026', {}, 'order@2026', '11'],
  ])('leaves the end of a tag on record that another database has: %s', async (_, tag, columns, name, limit) => {
    await source.insert(tag, columns);
    await source.insert('other');
    const { rows } = await source.handOver('order');
    await source.rows.handOff(rows, { steps: 2, least: 100 });
    expect(await source.names()).toEqual(['other']);
    const position = String(columns.max_id ?? 11);
    expect(await source.records()).toEqual([{ biz_tag: name, max_id: position, issue_limit: limit }]);
  });

  it('groups what is handed over by tag', async () => {
    for (const name of ['a', 'a@2026', 'b@2026']) await source.insert(name);
    for (const name of ['a@', 'gone']) await source.record(name, 5, 50);
    const groups = byTag(await source.handOver());
    const names = (tag: string): unknown => {
      const { rows, records } = groups.get(tag)!;
      return [...rows, ...records].map(({ biz_tag }) => biz_tag);
    };
    expect([...groups.keys()].sort()).toEqual(['a', 'b', 'gone']);
    expect(['a', 'b', 'gone'].map(names)).toEqual([['a', 'a@2026', 'a@'], ['b@2026'], ['gone']]);
    expect(groups.get('a')!.failedOver).toBe(Date.parse(`${EARLY}Z`) / 1000);
  });
});
