import { connect } from '../../../../test/support/contract/sql-stores';
import type { Statement } from '../connections/sql-database';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { SQLITE_TAGS } from '../dialects/sqlite/sqlite';
import { isHidden, type MovedRows, moveForward, positionColumns } from './move-forward';

const MAX = '9223372036854775807';
const ALMOST = '9223372036854775757';
/** With a step of 10, a tag moves by 200 IDs. */
const GAP = { steps: 2, least: 100 };

type Value = string | number | null;
/** Its position is in `max_id`, or in `next_id` if that is there; `moved` is where it is afterwards. */
interface Row {
  readonly position: Value;
  readonly moved: Value;
  readonly hidden?: boolean;
  readonly columns?: Readonly<Record<string, Value>>;
}

describe('moveForward', () => {
  let database: LeafDataSource;
  let sent: string[];
  beforeEach(async () => {
    sent = [];
    database = await connect(parseDatabaseUrl('sqlite::memory:'));
    await execute('DELETE FROM leaf_alloc');
  });
  afterEach(() => database.destroy());

  const execute = <Rows>(sql: string): Promise<Rows> => database.query<Rows>(sql);
  function move(): Promise<MovedRows> {
    const statement: Statement = (sql, parameters = []) => {
      sent.push(sql);
      return database.access.run(sql, parameters);
    };
    return moveForward(statement, SQLITE_TAGS, GAP);
  }
  async function insert(table: string, row: Readonly<Record<string, Value>>): Promise<void> {
    const values = Object.values(row).map((value) => (value === null ? 'NULL' : String(value)));
    await execute(`INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${values.join(', ')})`);
  }
  async function insertRow(tag: string, { position, hidden = false, columns = {} }: Row): Promise<void> {
    const where = hidden ? { max_id: MAX, next_id: position } : { max_id: position };
    await insert('leaf_alloc', { biz_tag: `'${tag}'`, step: 10, ...where, ...columns });
  }

  it.each<[string, Row]>([
    ['by the least allocation', { position: 11, moved: 211 }],
    ['by its step', { position: 11, moved: 611, columns: { step: 300 } }],
    ['by its largest step', { position: 11, moved: 811, columns: { max_step: 400 } }],
    ['by its blocks', { position: 5, moved: 1005, hidden: true, columns: { interleave_of: 2, interleave_block: 500 } }],
    ['to the end of all IDs', { position: ALMOST, moved: MAX }],
    ['beyond its max', { position: 11, moved: 211, hidden: true, columns: { last_id: 50 } }],
    [
      'to the end of its periods',
      { position: 11, moved: 101, hidden: true, columns: { last_id: 100, reset_every: "'daily'" } },
    ],
    ['though its step is missing', { position: 11, moved: 211, columns: { step: 0 } }],
    ['though its position is a fraction', { position: 1.5, moved: 201.5 }],
    ['not without a position', { position: 0, moved: 0 }],
    ['not with a position below zero', { position: -5, moved: -5 }],
  ])('moves a tag %s', async (_, row) => {
    await insertRow('order', row);
    expect(await move()).toEqual({ tags: 1, periods: 0, deleted: 0 });
    expect(await positions()).toEqual([{ biz_tag: 'order', ...columnsOf(row) }]);
  });

  it.each<[string, Row]>([
    ['by the gap', { position: 11, moved: 211 }],
    ['to the ID after its max', { position: 11, moved: 101, columns: { last_id: 100 } }],
    ['to the end of all IDs', { position: ALMOST, moved: MAX }],
    ['not back to its max', { position: 150, moved: 150, columns: { last_id: 100 } }],
    ['though its max is not an ID', { position: 11, moved: 211, columns: { last_id: 0 } }],
    ['though its max is above all IDs', { position: 11, moved: 211, columns: { last_id: MAX } }],
  ])('moves a period %s', async (_, row) => {
    await insertRow('order@2026', { ...row, hidden: true });
    expect(await move()).toEqual({ tags: 0, periods: 1, deleted: 0 });
    expect(await positions()).toEqual([{ biz_tag: 'order@2026', ...columnsOf({ ...row, hidden: true }) }]);
  });

  it('tells the time of the move', async () => {
    await insertRow('order', { position: 11, moved: 211 });
    await execute("UPDATE leaf_alloc SET update_time = '2020-01-01 00:00:00'");
    await move();
    expect(await execute("SELECT update_time > '2026-01-01' AS now FROM leaf_alloc")).toEqual([{ now: 1 }]);
  });

  it.each<[max: Value, limit: Value, moved: Value]>([
    [50, null, 250],
    [50, 80, 280],
    [50, 30, 250],
    [-5, null, 200],
    [ALMOST, null, MAX],
    [50, ALMOST, MAX],
  ])('moves the record %d, limit %d, to %d', async (max_id, issue_limit, moved) => {
    await insert('leaf_deleted_tag', { biz_tag: "'gone'", max_id, issue_limit });
    expect(await move()).toEqual({ tags: 0, periods: 0, deleted: 1 });
    expect(await limits()).toEqual([{ biz_tag: 'gone', max_id: String(max_id), issue_limit: String(moved) }]);
  });

  it('records where the rows are that nobody has used since', async () => {
    const unused = { position: 11, moved: 211 };
    await insertRow('unused', unused);
    await insertRow('unused@2026', { ...unused, hidden: true });
    await insertRow('fraction', { ...unused, position: 1.5 });
    await insertRow('used', { ...unused, columns: { issue_limit: 100 } });
    await insertRow('periodic', { ...unused, columns: { reset_every: "'daily'" } });
    await insertRow('empty', { ...unused, position: 0 });
    await insertRow('@frozen', unused);
    await insertRow('known', unused);
    await insert('leaf_deleted_tag', { biz_tag: "'known'", max_id: 5, issue_limit: 7 });
    await insert('leaf_deleted_tag', { biz_tag: "'gone'", max_id: 5, issue_limit: 7 });
    expect(await move()).toEqual({ tags: 6, periods: 2, deleted: 1 });
    expect(await limits()).toEqual([
      { biz_tag: 'fraction', max_id: '0', issue_limit: '201' },
      { biz_tag: 'gone', max_id: '5', issue_limit: '207' },
      { biz_tag: 'known', max_id: '5', issue_limit: '207' },
      { biz_tag: 'unused', max_id: '0', issue_limit: '211' },
      { biz_tag: 'unused@2026', max_id: '0', issue_limit: '211' },
    ]);
  });

  it('moves each of thousands of rows once, in few statements', async () => {
    const numbers = (count: number): string =>
      `WITH RECURSIVE many(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < ${count})`;
    await execute(
      `${numbers(4001)} INSERT INTO leaf_alloc (biz_tag, max_id, step, issue_limit) SELECT 'tag.' || n, n, 10, n FROM many`,
    );
    await execute(`${numbers(2000)} INSERT INTO leaf_deleted_tag (biz_tag, max_id) SELECT 'gone.' || n, n FROM many`);
    expect(await move()).toEqual({ tags: 4001, periods: 0, deleted: 2000 });
    expect(await execute("SELECT biz_tag FROM leaf_alloc WHERE 'tag.' || (max_id - 200) <> biz_tag")).toStrictEqual([]);
    const wrong = await execute('SELECT biz_tag FROM leaf_deleted_tag WHERE issue_limit - max_id <> 200');
    expect(wrong).toStrictEqual([]);
    const updates = (table: string): number => sent.filter((sql) => sql.startsWith(`UPDATE ${table} `)).length;
    expect([updates('leaf_alloc'), updates('leaf_deleted_tag')]).toEqual([3, 2]);
  });

  const text = (column: string): string => `CAST(${column} AS TEXT) AS ${column}`;
  const positions = (): Promise<object[]> =>
    execute(`SELECT biz_tag, ${text('max_id')}, ${text('next_id')} FROM leaf_alloc`);
  const limits = (): Promise<object[]> =>
    execute(`SELECT biz_tag, ${text('max_id')}, ${text('issue_limit')} FROM leaf_deleted_tag ORDER BY biz_tag`);
  function columnsOf({ moved, hidden = false }: Row): object {
    return hidden ? { max_id: MAX, next_id: String(moved) } : { max_id: String(moved), next_id: null };
  }
});

describe('the position of a row', () => {
  it.each<[boolean, Parameters<typeof isHidden>[0]]>([
    [false, {}],
    [false, { order: 'relaxed', max: null }],
    [true, { max: 5n }],
    [true, { order: 'strict' }],
    [true, { reset: 'daily' }],
    [true, { interleave: { of: 2, remainder: 0, block: 10 } }],
  ])('is hidden from programs that do not know its settings: %s for %o', (hidden, settings) => {
    expect(isHidden(settings)).toBe(hidden);
    expect(positionColumns(7n, hidden)).toEqual(hidden ? [BigInt(MAX), 7n] : [7n, null]);
  });
});
