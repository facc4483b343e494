import type { Allocation, IdRange } from '@leaf/core';
import { type AllocRow, SqlSegmentStore, unknownTag } from '../sql-segment-store';

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

/**
 * Segment ranges from `leaf_alloc` in MySQL or MariaDB. An allocation is one UPDATE, which leaves the new `max_id` in
 * LAST_INSERT_ID, and a look at the step, sent together: one round trip. The size is always the caller's own, so that a
 * step that is changed meanwhile cannot shift the range.
 */
export class MysqlSegmentStore extends SqlSegmentStore {
  async allocate(tag: string, size: number | undefined): Promise<Allocation> {
    const count = size ?? (await this.step(tag));
    const [updated, rows] = await this.run<[Updated, { readonly step: number }[]]>(
      `UPDATE leaf_alloc SET max_id = LAST_INSERT_ID(max_id + ?)
       WHERE ${THIS_TAG} AND step > 0 AND max_id > 0 AND max_id <= 9223372036854775807 - ?;
       SELECT step FROM leaf_alloc WHERE ${THIS_TAG}`,
      [BigInt(count), tag, tag, BigInt(count), tag, tag],
    );
    if (updated.affectedRows !== 1) throw await this.refusal(tag, size);
    const end = BigInt(String(updated.insertId));
    return { from: end - BigInt(count), to: end - 1n, step: rows[0]?.step ?? count };
  }

  async giveBack(tag: string, { from, to }: IdRange): Promise<boolean> {
    const { affectedRows } = await this.run<Updated>(
      `UPDATE leaf_alloc SET max_id = ? WHERE ${THIS_TAG} AND max_id = ?`,
      [from, tag, tag, to + 1n],
    );
    return affectedRows > 0;
  }

  async raise(tag: string, minimum: bigint): Promise<void> {
    await this.run(`UPDATE leaf_alloc SET max_id = ? WHERE ${THIS_TAG} AND max_id < ?`, [minimum, tag, tag, minimum]);
  }

  protected async row(tag: string): Promise<AllocRow | undefined> {
    const [row] = await this.run<AllocRow[]>(
      `SELECT CAST(max_id AS CHAR) AS max_id, step FROM leaf_alloc WHERE ${THIS_TAG}`,
      [tag, tag],
    );
    return row;
  }

  private async step(tag: string): Promise<number> {
    const row = await this.row(tag);
    if (row === undefined) throw unknownTag(tag);
    if (row.step < 1) throw await this.refusal(tag, undefined);
    return row.step;
  }
}
