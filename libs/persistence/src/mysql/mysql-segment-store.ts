import type { Allocation, IdRange } from '@leaf/core';
import type { SqlParameter } from '../sql-database';
import { type AllocRow, SqlSegmentStore } from '../sql-segment-store';

interface Updated {
  readonly affectedRows: number;
  /** A number below 2^53, text above. */
  readonly insertId: number | string;
}

/**
 * Exactly this tag: the collation of an existing table may hold `Order` and `order ` equal to `order`. The first
 * comparison finds the row by its key, the second one is byte by byte.
 */
const THIS_TAG = 'biz_tag = ? AND CAST(biz_tag AS BINARY) = CAST(? AS BINARY)';
/** Kept in a variable of the session, so that statement-based replication carries its value over, not its expression. */
const SAME_SERVER =
  'AND (SELECT CAST(server AS BINARY) FROM leaf_segment_server WHERE id = 1) = CAST(@leaf_server AS BINARY)';

/**
 * Segment ranges from `leaf_alloc` in MySQL or MariaDB. An allocation is one UPDATE, which leaves the new `max_id` in
 * LAST_INSERT_ID, and a look at the step, sent together: one round trip. The size is always the caller's own, so that a
 * step that is changed meanwhile cannot shift the range.
 */
export class MysqlSegmentStore extends SqlSegmentStore {
  async giveBack(tag: string, { from, to }: IdRange): Promise<boolean> {
    const [updated] = await this.change(
      [`UPDATE leaf_alloc SET max_id = ? WHERE ${THIS_TAG} AND max_id = ?`, 'DO 0'],
      [from, tag, tag, to + 1n],
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
      [
        `UPDATE leaf_alloc SET max_id = LAST_INSERT_ID(max_id + ?)
         WHERE ${THIS_TAG} AND step > 0 AND max_id > 0 AND max_id <= 9223372036854775807 - ?`,
        `SELECT step FROM leaf_alloc WHERE ${THIS_TAG}`,
      ],
      [BigInt(count), tag, tag, BigInt(count), tag, tag],
    );
    if (updated.affectedRows !== 1) return undefined;
    const end = BigInt(String(updated.insertId));
    return { from: end - BigInt(count), to: end - 1n, step: rows[0]?.step ?? count };
  }

  protected rows(tag: string): Promise<AllocRow[]> {
    const sql = `SELECT CAST(max_id AS CHAR) AS max_id, step FROM leaf_alloc WHERE ${THIS_TAG}`;
    return this.database.run(sql, [tag, tag]);
  }

  /** Sends an UPDATE, which changes nothing once a replica was promoted, and the statement after it, together. */
  private async change(
    [update, query]: readonly [string, string],
    parameters: SqlParameter[],
  ): Promise<readonly [Updated, readonly { readonly step: number }[]]> {
    const server = this.guard?.expression;
    if (server === undefined) return this.database.run(`${update}; ${query}`, parameters);
    const sql = `SET @leaf_server = ${server}; ${update} ${SAME_SERVER}; ${query}`;
    const [, updated, rows] = await this.database.run<[unknown, Updated, { readonly step: number }[]]>(sql, parameters);
    return [updated, rows];
  }

  private async step(tag: string): Promise<number | undefined> {
    const step = (await this.rows(tag))[0]?.step ?? 0;
    return step > 0 ? step : undefined;
  }
}
