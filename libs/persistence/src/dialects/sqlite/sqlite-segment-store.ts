import type { Allocation } from '@leaf-ids/core';
import { allocatable } from '../../stores/alloc-row';
import type { SqlParameter, SqlStatement } from '../../connections/sql-database';
import { type Allocated, SqlSegmentStore } from '../../stores/sql-segment-store';
import { POSITION, setPosition } from '../../failover/move-forward';

/** As text: JavaScript numbers are exact to 2^53 only. */
const POSITION_TEXT = `CAST(${POSITION} AS TEXT) AS max_id`;

const ALLOCATABLE = allocatable('COALESCE(?1, step)', 'biz_tag = ?2');

/** Segment ranges from `leaf_alloc` in an SQLite file. Every statement is atomic and durable when it returns. */
export class SqliteSegmentStore extends SqlSegmentStore {
  protected async tryAllocate(tag: string, size: number | undefined): Promise<Allocation | undefined> {
    const count = size === undefined ? null : BigInt(size);
    const [row, ...others] = await this.database.run<Allocated[]>(
      `UPDATE leaf_alloc
       SET ${setPosition(`${POSITION} + COALESCE(?1, step)`)}, update_time = CURRENT_TIMESTAMP
       WHERE biz_tag = ?2 AND typeof(step) = 'integer' AND typeof(${POSITION}) = 'integer'
         AND ${ALLOCATABLE} ${this.guarded}
       RETURNING ${POSITION_TEXT}, step, max_step`,
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

  protected async update(sql: string, parameters: SqlParameter[], guarded: boolean): Promise<boolean> {
    const text = `${sql} ${guarded ? this.guarded : ''} RETURNING 1`;
    return (await this.database.run<unknown[]>(text, parameters)).length > 0;
  }

  protected async insert({ sql, parameters }: SqlStatement): Promise<void> {
    await this.database.run(`INSERT INTO ${sql} ${this.guarded} ON CONFLICT (biz_tag) DO NOTHING RETURNING 1`, [
      ...parameters,
    ]);
  }

  private get guarded(): string {
    return this.guard.condition(`server = ${this.guard.expression ?? ''}`);
  }
}
