import type { MigrationInterface } from 'typeorm';
import type { SchemaRunner } from './schema-runner';

const COLUMNS = [
  ['leaf_segment_server', 'generation bigint NOT NULL DEFAULT 0'],
  ['leaf_deleted_tag', 'issue_limit bigint NULL'],
  ['leaf_alloc', 'issue_limit bigint NULL'],
] as const;

/**
 * `generation` counts the starts and refreshes of all servers: a lower one than before reveals a restored backup.
 *
 * `issue_limit` of `leaf_deleted_tag`: no ID at or above it was ever issued; servers raise it ahead of their
 * allocations. `issue_limit` of `leaf_alloc`: the part of it that this row may use, as a position like `max_id`. NULL in
 * a row that no server has used yet, for example because it was inserted again after a deletion.
 */
export class AddIssueLimit1795219200010 implements MigrationInterface {
  readonly name = 'AddIssueLimit1795219200010';

  async up(runner: SchemaRunner): Promise<void> {
    for (const [table, column] of COLUMNS) {
      const [name = ''] = column.split(' ');
      if (await runner.hasColumn(table, name)) continue;
      await runner.query(`ALTER TABLE ${table} ADD COLUMN ${column}`);
    }
  }

  /** Keeps the columns: without them, IDs could be issued twice. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
