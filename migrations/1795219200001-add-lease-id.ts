import type { MigrationInterface } from 'typeorm';
import type { SchemaRunner } from './schema-runner';

/** A table that the Java service has made has no place for the lease that holds a worker ID. */
export class AddLeaseId1795219200001 implements MigrationInterface {
  readonly name = 'AddLeaseId1795219200001';

  async up(runner: SchemaRunner): Promise<void> {
    if (await runner.hasColumn('leaf_workerid_alloc', 'lease_id')) return;
    await runner.query('ALTER TABLE leaf_workerid_alloc ADD COLUMN lease_id varchar(64) NULL');
  }

  /** The column stays: whether it was there before is not known. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
