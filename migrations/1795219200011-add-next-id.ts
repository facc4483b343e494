import type { MigrationInterface } from 'typeorm';
import type { SchemaRunner } from './schema-runner';

/**
 * `next_id`: the position of a row with settings, whose `max_id` is 2^63 - 1; NULL for all other rows. The Java service
 * and earlier versions cannot allocate from such a row, whose settings they would ignore.
 */
export class AddNextId1795219200011 implements MigrationInterface {
  readonly name = 'AddNextId1795219200011';

  async up(runner: SchemaRunner): Promise<void> {
    if (!(await runner.hasColumn('leaf_alloc', 'next_id'))) {
      await runner.query('ALTER TABLE leaf_alloc ADD COLUMN next_id bigint NULL');
    }
    // In this order: MySQL evaluates the assignments from left to right.
    await runner.query(
      `UPDATE leaf_alloc SET next_id = max_id, max_id = 9223372036854775807
       WHERE next_id IS NULL AND (last_id IS NOT NULL OR ordering IS NOT NULL OR reset_every IS NOT NULL
         OR interleave_of IS NOT NULL OR biz_tag LIKE '%@%')`,
    );
  }

  /** Keeps the column: without it, the tags would have no position. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
