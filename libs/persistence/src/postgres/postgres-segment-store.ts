import { type Allocation, type IdRange, MAX_STEP } from '@leaf/core';
import type { SqlStatement } from '../sql-database';
import { type Allocated, type AllocRow, SqlSegmentStore } from '../sql-segment-store';
import { TAG_DIALECTS } from '../tags/tag-dialect';

/** Rows and their count, as TypeORM answers an UPDATE on PostgreSQL. */
type Updated<Row> = [Row[], number];

/** `max_id`, or where a deleted tag of the name $2 had come to. */
const NEXT_ID = 'GREATEST(max_id, (SELECT max_id FROM leaf_deleted_tag WHERE biz_tag = $2))';

/** Segment ranges from `leaf_alloc` in PostgreSQL: one statement, one round trip. */
export class PostgresSegmentStore extends SqlSegmentStore {
  protected readonly tags = TAG_DIALECTS.postgres;

  async giveBack(tag: string, { from, to }: IdRange): Promise<boolean> {
    const [, count] = await this.database.run<Updated<unknown>>(
      `UPDATE leaf_alloc SET max_id = $1, update_time = CURRENT_TIMESTAMP
       WHERE biz_tag = $2 AND max_id = $3 ${this.guarded('0')}`,
      [from, tag, to + 1n],
    );
    return count > 0;
  }

  async raise(tag: string, minimum: bigint): Promise<void> {
    await this.database.run(
      'UPDATE leaf_alloc SET max_id = $1, update_time = CURRENT_TIMESTAMP WHERE biz_tag = $2 AND max_id < $1',
      [minimum, tag],
    );
  }

  protected async tryAllocate(tag: string, size: number | undefined): Promise<Allocation | undefined> {
    const count = size === undefined ? null : BigInt(size);
    const [[row, ...others]] = await this.database.run<Updated<Allocated>>(
      `UPDATE leaf_alloc
       SET max_id = ${NEXT_ID} + COALESCE($1::bigint, step), update_time = CURRENT_TIMESTAMP
       WHERE biz_tag = $2 AND step BETWEEN 1 AND ${MAX_STEP} AND max_id > 0 AND reset_every IS NULL
         AND ${NEXT_ID} <= COALESCE(last_id, 9223372036854775806) + 1 - COALESCE($1::bigint, step) ${this.guarded('COALESCE($1::bigint, 0)')}
       RETURNING max_id::text, step, max_step`,
      [count, tag],
    );
    if (row === undefined || others.length > 0) return undefined;
    const end = BigInt(row.max_id);
    return {
      from: end - (count ?? BigInt(row.step)),
      to: end - 1n,
      step: row.step,
      maxStep: row.max_step ?? undefined,
    };
  }

  protected async insert({ sql, parameters }: SqlStatement): Promise<void> {
    const insert = this.tags.text(`INSERT INTO ${sql}`);
    await this.database.run(`${insert} ${this.guarded('0')} ON CONFLICT (biz_tag) DO NOTHING`, [...parameters]);
  }

  protected rows(tag: string): Promise<AllocRow[]> {
    const deleted = '(SELECT max_id::text FROM leaf_deleted_tag WHERE biz_tag = $1) AS deleted';
    return this.database.run(
      `SELECT max_id::text, step, last_id::text, reset_every, ${deleted} FROM leaf_alloc WHERE biz_tag = $1`,
      [tag],
    );
  }

  /** Lets nothing be changed if the guard has to see to something. */
  private guarded(size: string): string {
    const server = this.guard?.expression;
    if (server === undefined) return '';
    return `AND EXISTS (SELECT 1 FROM leaf_segment_server WHERE id = 1 AND server = ${server} AND largest_step >= ${size})`;
  }
}
