import type { Allocation, AllocationRequest } from '@leaf-ids/core';
import { MAX_STEP } from '@leaf-ids/core/internal';
import type { AllocRow } from '../stores/alloc-row';
import type { SqlParameter, SqlStatement } from '../connections/sql-database';
import { type Allocated, SqlSegmentStore } from '../stores/sql-segment-store';
import { HAS_POSITION, POSITION, setPosition } from '../failover/row-position';
import { KIND_COLUMNS } from '../stores/setting-columns';
import { POSTGRES_TAGS } from './postgres-statements';

/** The result of an UPDATE by TypeORM on PostgreSQL: the rows and their count. */
type Updated<Row> = [Row[], number];

const POSITION_TEXT = `(${POSITION})::text AS max_id`;

/** The position, or that of a deleted tag with the name $2 if it is higher. */
const NEXT_ID = `GREATEST(${POSITION}, (SELECT max_id FROM leaf_deleted_tag WHERE biz_tag = $2))`;

/** As {@link NEXT_ID}, for the tag of the row. */
const NEXT_ID_OF_ROW = `GREATEST(${POSITION},
  (SELECT max_id FROM leaf_deleted_tag AS deleted WHERE deleted.biz_tag = leaf_alloc.biz_tag))`;

interface AllocatedTag extends Allocated {
  readonly biz_tag: string;
  readonly size: string;
}

/** Segment ranges from `leaf_alloc` in PostgreSQL: one statement, one round trip. */
export class PostgresSegmentStore extends SqlSegmentStore {
  protected readonly tags = POSTGRES_TAGS;

  protected async update(sql: string, parameters: SqlParameter[], guarded: boolean): Promise<boolean> {
    const text = `${this.tags.text(sql)} ${guarded ? this.guarded : ''}`;
    const [, count] = await this.database.runOnce<Updated<unknown>>(text, parameters);
    return count > 0;
  }

  protected async tryAllocate(tag: string, size: number | undefined): Promise<Allocation | undefined> {
    const count = size === undefined ? null : BigInt(size);
    const [[row, ...others]] = await this.database.run<Updated<Allocated>>(
      `UPDATE leaf_alloc
       SET ${setPosition(`${NEXT_ID} + COALESCE($1::bigint, step)`)}, update_time = CURRENT_TIMESTAMP
       WHERE biz_tag = $2 AND interleave_of IS NULL AND reset_every IS NULL AND step BETWEEN 1 AND ${MAX_STEP} AND ${HAS_POSITION}
         AND ${NEXT_ID} <= COALESCE(last_id, 9223372036854775806) + 1 - COALESCE($1::bigint, step) ${this.guarded}
       RETURNING ${POSITION_TEXT}, step, max_step`,
      [count, tag],
    );
    if (row === undefined || others.length > 0) return undefined;
    return toAllocation(row, count ?? BigInt(row.step));
  }

  /** Locks the rows in the order of their names to avoid deadlocks between servers. */
  protected override async tryAllocateAll(
    requests: readonly AllocationRequest[],
    granted: Map<string, Allocation>,
  ): Promise<void> {
    if (requests.length === 1) return super.tryAllocateAll(requests, granted);
    const [rows] = await this.database.run<Updated<AllocatedTag>>(
      `WITH wanted AS (
         SELECT biz_tag, size
         FROM leaf_alloc JOIN json_to_recordset($1) AS request (tag text, size bigint) ON biz_tag = tag
         ORDER BY biz_tag FOR UPDATE OF leaf_alloc
       )
       UPDATE leaf_alloc
       SET ${setPosition(`${NEXT_ID_OF_ROW} + size`)}, update_time = CURRENT_TIMESTAMP
       FROM wanted
       WHERE leaf_alloc.biz_tag = wanted.biz_tag AND interleave_of IS NULL AND reset_every IS NULL AND step BETWEEN 1 AND ${MAX_STEP} AND ${HAS_POSITION}
         AND ${NEXT_ID_OF_ROW} <= COALESCE(last_id, 9223372036854775806) + 1 - size ${this.guarded}
       RETURNING leaf_alloc.biz_tag, size::text, ${POSITION_TEXT}, step, max_step`,
      [JSON.stringify(requests)],
    );
    const names = new Set(rows.map(({ biz_tag }) => biz_tag));
    // Without a primary key, a tag may have several rows. Their ranges are discarded.
    if (names.size < rows.length) return super.tryAllocateAll(requests, granted);
    for (const row of rows) granted.set(row.biz_tag, toAllocation(row, BigInt(row.size)));
  }

  protected async insert({ sql, parameters }: SqlStatement): Promise<void> {
    const insert = this.tags.text(`INSERT INTO ${sql}`);
    await this.database.run(`${insert} ${this.guarded} ON CONFLICT (biz_tag) DO NOTHING`, [...parameters]);
  }

  protected rows(tag: string): Promise<AllocRow[]> {
    const deleted = '(SELECT max_id::text FROM leaf_deleted_tag WHERE biz_tag = $1) AS deleted';
    return this.database.run(
      `SELECT ${POSITION_TEXT}, ${HAS_POSITION} AS valid, step, max_step, last_id::text, ${KIND_COLUMNS}, ${deleted} FROM leaf_alloc WHERE biz_tag = $1`,
      [tag],
    );
  }

  private get guarded(): string {
    return this.guard.condition(`server = ${this.guard.expression ?? ''}`);
  }
}

function toAllocation({ max_id, step, max_step }: Allocated, count: bigint): Allocation {
  const end = BigInt(max_id);
  return { from: end - count, to: end - 1n, step, maxStep: max_step ?? undefined };
}
