import type { Allocation } from '@leaf-ids/core';
import { MAX_STEP } from '@leaf-ids/core/internal';
import type { AllocRow } from '../stores/alloc-row';
import type { SqlParameter, SqlStatement } from '../connections/sql-database';
import { type Allocated, SqlSegmentStore } from '../stores/sql-segment-store';
import { HAS_POSITION, POSITION, setPosition } from '../failover/row-position';
import { KIND_COLUMNS } from '../stores/setting-columns';
import { SQLITE_TAGS } from './sqlite-statements';

/** As text: JavaScript numbers are exact to 2^53 only. */
const POSITION_TEXT = `CAST(${POSITION} AS TEXT) AS max_id`;

/** The position, or that of a deleted tag with the name ?2 if it is higher. */
const NEXT_ID = `MAX(${POSITION}, COALESCE((SELECT max_id FROM leaf_deleted_tag WHERE biz_tag = ?2), 0))`;

/** Segment ranges from `leaf_alloc` in an SQLite file. Every statement is atomic and durable when it returns. */
export class SqliteSegmentStore extends SqlSegmentStore {
  protected readonly tags = SQLITE_TAGS;

  protected async tryAllocate(tag: string, size: number | undefined): Promise<Allocation | undefined> {
    const count = size === undefined ? null : BigInt(size);
    const [row, ...others] = await this.database.run<Allocated[]>(
      `UPDATE leaf_alloc
       SET ${setPosition(`${NEXT_ID} + COALESCE(?1, step)`)}, update_time = CURRENT_TIMESTAMP
       WHERE biz_tag = ?2 AND interleave_of IS NULL AND reset_every IS NULL AND typeof(step) = 'integer'
         AND typeof(${POSITION}) = 'integer' AND step BETWEEN 1 AND ${MAX_STEP} AND ${HAS_POSITION}
         AND ${NEXT_ID} <= COALESCE(last_id, 9223372036854775806) + 1 - COALESCE(?1, step) ${this.guarded}
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

  protected rows(tag: string): Promise<AllocRow[]> {
    const deleted = `(SELECT CAST(max_id AS TEXT) FROM leaf_deleted_tag WHERE biz_tag = ?1) AS deleted`;
    return this.database.run(
      `SELECT ${POSITION_TEXT}, ${HAS_POSITION} AS valid, step, max_step, CAST(last_id AS TEXT) AS last_id, ${KIND_COLUMNS}, ${deleted} FROM leaf_alloc WHERE biz_tag = ?1`,
      [tag],
    );
  }

  private get guarded(): string {
    return this.guard.condition(`server = ${this.guard.expression ?? ''}`);
  }
}
