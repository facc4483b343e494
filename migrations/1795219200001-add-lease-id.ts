import type { MigrationInterface } from 'typeorm';
import type { SchemaRunner } from './schema-runner';

/** Adds the lease ID of a worker, which the table of the Java service lacks. */
export class AddLeaseId1795219200001 implements MigrationInterface {
  readonly name = 'AddLeaseId1795219200001';

  async up(runner: SchemaRunner): Promise<void> {
    if (await runner.hasColumn('leaf_workerid_alloc', 'lease_id')) return;
    await runner.query('ALTER TABLE leaf_workerid_alloc ADD COLUMN lease_id varchar(64) NULL');
  }

  /** Keeps the column, because it may have existed before. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
