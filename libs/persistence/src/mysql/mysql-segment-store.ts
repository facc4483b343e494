import { type Allocation, type IdRange, MAX_STEP } from '@leaf/core';
import type { SqlStatement } from '../sql-database';
import { type AllocRow, SqlSegmentStore } from '../sql-segment-store';
import { TAG_DIALECTS } from '../tags/tag-dialect';

interface Updated {
  readonly affectedRows: number;
}

interface Found {
  readonly step: number;
  readonly max_step: number | null;
  /** Decimal: LAST_INSERT_ID, which the server's answer to the UPDATE does not have when the table has a trigger. */
  readonly end_id: string;
}

/**
 * Exactly this tag: the collation of an existing table may hold `Order` and `order ` equal to `order`. The first
 * comparison finds the row by its key, the second one is byte by byte.
 */
const THIS_TAG = 'biz_tag = ? AND CAST(biz_tag AS BINARY) = CAST(? AS BINARY)';
/** The column is ASCII, and cannot be compared with a name that is not. */
const DELETED = 'FROM leaf_deleted_tag WHERE biz_tag = CONVERT(? USING ascii)';
/** `max_id`, or where a deleted tag of the name had come to. */
const NEXT_ID = `GREATEST(max_id, COALESCE((SELECT max_id ${DELETED}), 0))`;
/** Kept in a variable of the session, so that statement-based replication carries its value over, not its expression. */
const GUARD = `EXISTS (SELECT 1 FROM leaf_segment_server
  WHERE id = 1 AND CAST(server AS BINARY) = CAST(@leaf_server AS BINARY) AND largest_step >= ?)`;

/**
 * Segment ranges from `leaf_alloc` in MySQL or MariaDB. An allocation is one UPDATE, which leaves the new `max_id` in
 * LAST_INSERT_ID, and a look at the step, sent together: one round trip. The size is always the caller's own, so that a
 * step that is changed meanwhile cannot shift the range.
 */
export class MysqlSegmentStore extends SqlSegmentStore {
  protected readonly tags = TAG_DIALECTS.mysql;

  async giveBack(tag: string, { from, to }: IdRange): Promise<boolean> {
    const [updated] = await this.change(
      {
        sql: `UPDATE leaf_alloc SET max_id = ? WHERE ${THIS_TAG} AND max_id = ?`,
        parameters: [from, tag, tag, to + 1n],
      },
      { sql: 'DO 0', parameters: [] },
      0,
    );
    return updated.affectedRows > 0;
  }

  async raise(tag: string, minimum: bigint): Promise<void> {
    const sql = `UPDATE leaf_alloc SET max_id = ? WHERE ${THIS_TAG} AND max_id < ?`;
    await this.database.run(sql, [minimum, tag, tag, minimum]);
  }

  protected async tryAllocate(tag: string, size: number | undefined): Promise<Allocation | undefined> {
    const count = size ?? (await this.step(tag));
    if (count === undefined) return undefined;
    const [updated, rows] = await this.change(
      {
        sql: `UPDATE leaf_alloc SET max_id = LAST_INSERT_ID(${NEXT_ID} + ?)
         WHERE ${THIS_TAG} AND step BETWEEN 1 AND ${MAX_STEP} AND max_id > 0 AND reset_every IS NULL
         AND ${NEXT_ID} <= COALESCE(last_id, 9223372036854775806) + 1 - ?`,
        parameters: [tag, BigInt(count), tag, tag, tag, BigInt(count)],
      },
      {
        sql: `SELECT step, max_step, CAST(LAST_INSERT_ID() AS CHAR) AS end_id FROM leaf_alloc WHERE ${THIS_TAG}`,
        parameters: [tag, tag],
      },
      size ?? 0,
    );
    const [row] = rows;
    if (updated.affectedRows !== 1 || row === undefined) return undefined;
    const end = BigInt(row.end_id);
    return { from: end - BigInt(count), to: end - 1n, step: row.step, maxStep: row.max_step ?? undefined };
  }

  protected async insert({ sql, parameters }: SqlStatement): Promise<void> {
    await this.change({ sql: `INSERT IGNORE INTO ${sql}`, parameters }, { sql: 'DO 0', parameters: [] }, 0);
  }

  protected rows(tag: string): Promise<AllocRow[]> {
    const deleted = `(SELECT CAST(max_id AS CHAR) ${DELETED}) AS deleted`;
    const sql = `SELECT CAST(max_id AS CHAR) AS max_id, step, CAST(last_id AS CHAR) AS last_id, reset_every, ${deleted} FROM leaf_alloc WHERE ${THIS_TAG}`;
    return this.database.run(sql, [tag, tag, tag]);
  }

  /** Sends an UPDATE or an INSERT, which changes nothing if the guard has to see to something, and the statement after it, together. */
  private async change(
    update: SqlStatement,
    query: SqlStatement,
    size: number,
  ): Promise<readonly [Updated, readonly Found[]]> {
    const server = this.guard?.expression;
    const guard = { sql: `SET @leaf_server = ${server ?? 'NULL'}`, parameters: [] };
    const guarded = { sql: `${update.sql} AND ${GUARD}`, parameters: [...update.parameters, size] };
    const statements = server === undefined ? [update, query] : [guard, guarded, query];
    const [updated, found] = (await this.database.runTogether(statements)).slice(-2);
    return [updated as Updated, found as readonly Found[]];
  }

  private async step(tag: string): Promise<number | undefined> {
    const step = (await this.rows(tag))[0]?.step ?? 0;
    return step > 0 ? step : undefined;
  }
}
