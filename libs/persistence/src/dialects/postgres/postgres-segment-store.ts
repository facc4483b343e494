import type { Allocation, AllocationRequest } from '@leaf-ids/core';
import { allocatable } from '../../stores/alloc-row';
import type { SqlParameter, SqlStatement } from '../../connections/sql-database';
import { type Allocated, SqlSegmentStore } from '../../stores/sql-segment-store';
import { POSITION, setPosition } from '../../failover/move-forward';

/** The result of an UPDATE by TypeORM on PostgreSQL: the rows and their count. */
type Updated<Row> = [Row[], number];

const POSITION_TEXT = `(${POSITION})::text AS max_id`;
const ALLOCATABLE = allocatable('COALESCE($1::bigint, step)', 'biz_tag = $2');
const WANTED_ALLOCATABLE = allocatable('size', 'leaf_deleted_tag.biz_tag = leaf_alloc.biz_tag');

interface AllocatedTag extends Allocated {
  readonly biz_tag: string;
  readonly size: string;
}

/** Segment ranges from `leaf_alloc` in PostgreSQL: one statement, one round trip. */
export class PostgresSegmentStore extends SqlSegmentStore {
  protected async update(sql: string, parameters: SqlParameter[], guarded: boolean): Promise<boolean> {
    const text = `${this.tags.text(sql)} ${guarded ? this.guarded : ''}`;
    const [, count] = await this.database.runOnce<Updated<unknown>>(text, parameters);
    return count > 0;
  }

  protected async tryAllocate(tag: string, size: number | undefined): Promise<Allocation | undefined> {
    const count = size === undefined ? null : BigInt(size);
    const [[row, ...others]] = await this.database.run<Updated<Allocated>>(
      `UPDATE leaf_alloc
       SET ${setPosition(`${POSITION} + COALESCE($1::bigint, step)`)}, update_time = CURRENT_TIMESTAMP
       WHERE biz_tag = $2 AND ${ALLOCATABLE} ${this.guarded}
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
       SET ${setPosition(`${POSITION} + size`)}, update_time = CURRENT_TIMESTAMP
       FROM wanted
       WHERE leaf_alloc.biz_tag = wanted.biz_tag AND ${WANTED_ALLOCATABLE} ${this.guarded}
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
    // Locked, as MySQL does it: otherwise a row that is being moved to another database would still begin a period.
    const locked = 'FOR SHARE OF leaf_alloc';
    await this.database.run(`${insert} ${this.guarded} ${locked} ON CONFLICT (biz_tag) DO NOTHING`, [...parameters]);
  }

  private get guarded(): string {
    return this.guard.condition(`server = ${this.guard.expression ?? ''}`);
  }
}

function toAllocation({ max_id, step, max_step }: Allocated, count: bigint): Allocation {
  const end = BigInt(max_id);
  return { from: end - count, to: end - 1n, step, maxStep: max_step ?? undefined };
}
