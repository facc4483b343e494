import { MAX_ID, type NewTag } from '@leaf-ids/core';
import { isOrdered } from '@leaf-ids/core/internal';
import type { SqlParameter, Statement } from '../connections/sql-database';

/**
 * The first ID of a row that is not allocated; of an interleaved tag, the place among its own IDs.
 *
 * It is in `max_id`, except for rows with settings that the Java service and earlier versions ignore: these have it in
 * `next_id`, and 2^63 - 1 in `max_id`. No step can be added to that, so nobody allocates from such a row who does not
 * know its settings.
 */
export const POSITION = 'COALESCE(next_id, max_id)';

/** A condition: the position can be used. False when `max_id` of a row with settings was changed by hand. */
export const HAS_POSITION = `(next_id IS NULL AND max_id > 0 OR next_id > 0 AND max_id = ${MAX_ID})`;

/** Assigns `value`, an expression that may contain {@link POSITION}, to the column that has the position of the row. */
export function setPosition(value: string): string {
  // `next_id` last: MySQL evaluates the assignments from left to right.
  return `max_id = CASE WHEN next_id IS NULL THEN ${value} ELSE max_id END,
    next_id = CASE WHEN next_id IS NULL THEN NULL ELSE ${value} END`;
}

/** Whether the Java service and earlier versions would give out wrong IDs of a tag with these settings. */
export function isHidden({ max = null, order, reset, interleave }: PositionSettings): boolean {
  return max !== null || isOrdered(order) || reset !== undefined || interleave !== undefined;
}

type PositionSettings = Pick<NewTag, 'order' | 'reset' | 'interleave'> & { readonly max?: bigint | null | undefined };

/** The values of `max_id` and `next_id`. */
export function positionColumns(position: bigint, hidden: boolean): [maxId: SqlParameter, nextId: SqlParameter] {
  return hidden ? [MAX_ID, position] : [position, null];
}

/** The differences between databases in the statements that move tags, written with `?` for a parameter. */
export interface MoveDialect {
  /** Converts a statement to the placeholders of the driver. */
  readonly text: (sql: string) => string;
  /** A placeholder for an integer. */
  readonly number: string;
  /** The functions that return the largest and the smallest of their arguments. */
  readonly greatest: string;
  readonly least: string;
  /** The clock of the database, in Unix seconds. */
  readonly now: string;
  /** Completes an INSERT of the rows of a query, given from INTO on: it keeps existing rows. */
  readonly insertMissing: (into: string) => string;
}

/** How far tags are moved: `steps` times the largest possible allocation of each, which is at least `least` IDs. */
export interface Gap {
  readonly steps: number;
  readonly least: number;
}

/** The rows of one database that were moved. */
export interface MovedRows {
  /** Tags, without the rows of their periods. */
  readonly tags: number;
  readonly periods: number;
  /** Records of deleted tags. */
  readonly deleted: number;
}

/** Excludes the rows of periods: the name of a tag cannot contain @. */
export const NO_PERIOD = "biz_tag NOT LIKE '%@%'";

/** Excludes the records of tags that exist: their rows count. */
export const WITHOUT_ROW = 'NOT EXISTS (SELECT 1 FROM leaf_alloc WHERE leaf_alloc.biz_tag = leaf_deleted_tag.biz_tag)';

/** The largest `max_id`, 2^63 - 1, and the largest ID. */
const MAX = '9223372036854775807';
export const LAST_ID = '9223372036854775806';

/** Rows that one statement moves: few enough to finish in time. */
const PAGE = 2000;

/**
 * The position of a row, moved by the gap; the parameters are those of {@link gapParameters}. The result is at most
 * 2^63 - 1; for periods and tags with periods, at most the ID after `max`. An invalid `last_id` does not limit it.
 */
export function movedPosition({ greatest, least, number }: MoveDialect): string {
  const columns = ['step', 'max_step', 'interleave_block'].map((column) => `COALESCE(${column}, 0)`).join(', ');
  const last = `CASE WHEN last_id BETWEEN 1 AND ${LAST_ID} THEN last_id ELSE ${LAST_ID} END`;
  return `${POSITION} + ${least}(${number} * ${greatest}(${columns}, ${number}),
    CASE WHEN biz_tag LIKE '%@%' OR reset_every IS NOT NULL
      THEN ${greatest}(${last} + 1 - ${POSITION}, 0) ELSE ${MAX} - ${POSITION} END)`;
}

export function gapParameters({ steps, least }: Gap): number[] {
  return [steps, least];
}

/** Moves every tag, period and record of a deleted tag forward by the gap. */
export async function moveForward(statement: Statement, dialect: MoveDialect, gap: Gap): Promise<MovedRows> {
  const { text } = dialect;
  await moveTags(statement, dialect, gap);
  // For a tag that exists, this is the record in case its row is lost as well.
  const end = `${dialect.greatest}(max_id, COALESCE(issue_limit, 0), 0)`;
  const moved = `${end} + ${dialect.least}(${dialect.number}, ${MAX} - ${end})`;
  const update = `UPDATE leaf_deleted_tag SET issue_limit = ${moved} WHERE biz_tag > ? AND biz_tag <= COALESCE(?, biz_tag)`;
  await inPages(statement, dialect, 'leaf_deleted_tag', (page) =>
    statement(text(update), [BigInt(gap.steps) * BigInt(gap.least), ...page]),
  );
  await recordUnused(statement, dialect);
  const count = async (rows: string): Promise<number> => {
    const [row] = await statement<{ count: number | string }[]>(`SELECT COUNT(*) AS count FROM ${rows}`);
    return Number(row?.count ?? 0);
  };
  const tags = await count(`leaf_alloc WHERE ${NO_PERIOD}`);
  const periods = (await count('leaf_alloc')) - tags;
  return { tags, periods, deleted: await count(`leaf_deleted_tag WHERE ${WITHOUT_ROW}`) };
}

/**
 * Records where the rows are that no server has used since: they may have been used before the lost changes. Without a
 * record, a row that is deleted and inserted again would be a new tag. The position of an interleaved tag is below its ID.
 */
async function recordUnused(statement: Statement, dialect: MoveDialect): Promise<void> {
  // SQLite may have a fraction there, in a row that cannot be used yet.
  const whole = `${POSITION} | 0`;
  const into = `INTO leaf_deleted_tag (biz_tag, max_id, issue_limit) SELECT biz_tag, 0, ${whole} FROM leaf_alloc
    WHERE issue_limit IS NULL AND reset_every IS NULL AND ${POSITION} > 0 AND biz_tag NOT LIKE '@%'
      AND NOT EXISTS (SELECT 1 FROM leaf_deleted_tag WHERE leaf_deleted_tag.biz_tag = leaf_alloc.biz_tag)`;
  await statement(dialect.insertMissing(into));
}

async function moveTags(statement: Statement, dialect: MoveDialect, gap: Gap): Promise<void> {
  const update = dialect.text(
    `UPDATE leaf_alloc SET ${setPosition(movedPosition(dialect))}, update_time = CURRENT_TIMESTAMP
     WHERE ${POSITION} > 0 AND biz_tag > ? AND biz_tag <= COALESCE(?, biz_tag)`,
  );
  await inPages(statement, dialect, 'leaf_alloc', (page) =>
    statement(update, [...gapParameters(gap), ...gapParameters(gap), ...page]),
  );
}

/** Updates a table page by page, to keep each statement short: rows after the first name, up to the second, if any. */
async function inPages(
  statement: Statement,
  dialect: MoveDialect,
  table: 'leaf_alloc' | 'leaf_deleted_tag',
  update: (page: [after: string, upTo: string | null]) => Promise<unknown>,
): Promise<void> {
  const lastOfPage = dialect.text(`SELECT biz_tag FROM ${table} WHERE biz_tag > ? ORDER BY biz_tag LIMIT 1 OFFSET ?`);
  let before = '';
  for (;;) {
    const [last] = await statement<{ biz_tag: string }[]>(lastOfPage, [before, PAGE - 1]);
    await update([before, last?.biz_tag ?? null]);
    if (last === undefined) return;
    before = last.biz_tag;
  }
}
