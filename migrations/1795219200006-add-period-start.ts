import type { MigrationInterface } from 'typeorm';
import type { SchemaRunner } from './schema-runner';

/** `period_start`: the first number of each period of a tag with periods; NULL for all other tags. */
export class AddPeriodStart1795219200006 implements MigrationInterface {
  readonly name = 'AddPeriodStart1795219200006';

  async up(runner: SchemaRunner): Promise<void> {
    if (await runner.hasColumn('leaf_alloc', 'period_start')) return;
    await runner.query('ALTER TABLE leaf_alloc ADD COLUMN period_start bigint NULL');
  }

  /** Keeps the column: without it, periods would start at a different number. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
