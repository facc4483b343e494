import type { DataSource } from 'typeorm';
import { type Allocation, type IdRange, LeafError, messageOf, SegmentStore } from '@leaf/core';

interface AllocRow {
  readonly max_id: string;
  readonly step: number;
}

/** `max_id` as text: JavaScript numbers are exact to 2^53 only. */
const MAX_ID_TEXT = 'CAST(max_id AS TEXT) AS max_id';

/** Segment ranges from `leaf_alloc` in an SQLite file. Every statement is atomic and durable when it returns. */
export class SqliteSegmentStore extends SegmentStore {
  constructor(
    private readonly dataSource: DataSource,
    readonly description: string,
  ) {
    super();
  }

  async listTags(): Promise<string[]> {
    const rows = await this.run<{ biz_tag: string }>('SELECT biz_tag FROM leaf_alloc', []);
    return rows.map((row) => row.biz_tag);
  }

  async hasTag(tag: string): Promise<boolean> {
    const rows = await this.run('SELECT 1 FROM leaf_alloc WHERE biz_tag = ?', [tag]);
    return rows.length > 0;
  }

  async allocate(tag: string, size: number | undefined): Promise<Allocation> {
    const count = size === undefined ? null : BigInt(size);
    const [row] = await this.run<AllocRow>(
      `UPDATE leaf_alloc
       SET max_id = max_id + COALESCE(?1, step), update_time = CURRENT_TIMESTAMP
       WHERE biz_tag = ?2 AND step > 0 AND max_id > 0 AND max_id <= 9223372036854775807 - COALESCE(?1, step)
       RETURNING ${MAX_ID_TEXT}, step`,
      [count, tag],
    );
    if (row === undefined) throw await this.refusal(tag, size);
    const end = BigInt(row.max_id);
    return { from: end - (count ?? BigInt(row.step)), to: end - 1n, step: row.step };
  }

  async giveBack(tag: string, { from, to }: IdRange): Promise<boolean> {
    const rows = await this.run(
      `UPDATE leaf_alloc SET max_id = ?1, update_time = CURRENT_TIMESTAMP
       WHERE biz_tag = ?2 AND max_id = ?3 RETURNING 1`,
      [from, tag, to + 1n],
    );
    return rows.length > 0;
  }

  async raise(tag: string, minimum: bigint): Promise<void> {
    await this.run(
      `UPDATE leaf_alloc SET max_id = ?1, update_time = CURRENT_TIMESTAMP
       WHERE biz_tag = ?2 AND max_id < ?1 RETURNING 1`,
      [minimum, tag],
    );
  }

  /** Why the allocation found no row to change. */
  private async refusal(tag: string, size: number | undefined): Promise<LeafError> {
    const [row] = await this.run<AllocRow>(`SELECT ${MAX_ID_TEXT}, step FROM leaf_alloc WHERE biz_tag = ?`, [tag]);
    if (row === undefined) {
      return new LeafError(
        'LEAF_TAG_NOT_FOUND',
        `There is no tag "${tag}". Create its row in leaf_alloc first; it is found within a second.`,
      );
    }
    if (row.step < 1 || BigInt(row.max_id) < 1n) {
      return new LeafError(
        'LEAF_TAG_ROW_INVALID',
        `The row of tag "${tag}" in leaf_alloc has max_id ${row.max_id} and step ${row.step}. Set both to 1 or more.`,
      );
    }
    return new LeafError(
      'LEAF_TAG_EXHAUSTED',
      `Tag "${tag}" is at ${row.max_id}: ${size ?? row.step} more IDs would pass 2^63 - 1. Start a new tag.`,
    );
  }

  private async run<Row = unknown>(sql: string, parameters: (string | bigint | null)[]): Promise<Row[]> {
    try {
      return await this.dataSource.query<Row[]>(sql, parameters);
    } catch (error) {
      throw new LeafError(
        'LEAF_STORE_UNAVAILABLE',
        'The database of the segments failed; the log of this server says how. It goes on by itself when the database answers.',
        { cause: new Error(`${this.description}: ${messageOf(error)}`, { cause: error }), retryAfterMs: 1000 },
      );
    }
  }
}
