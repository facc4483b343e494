import type { MigrationInterface } from 'typeorm';
import type { SchemaRunner } from './schema-runner';

/** All are optional: a row without settings is a tag of the Java service. */
const COLUMNS = [
  'max_step int',
  'last_id bigint',
  'ordering varchar(16)',
  'reset_every varchar(16)',
  'time_zone varchar(64)',
  'interleave_of int',
  'interleave_remainder int',
  'interleave_block int',
];

/**
 * Settings of a tag. `max_step`: the largest dynamic step. `last_id`: the last ID that may be issued. `ordering`:
 * `strict`, or NULL. `reset_every`: how often the tag restarts, such as `daily`, or NULL; `time_zone`: the IANA zone of that calendar.
 * `interleave_…`: this database allocates the blocks of `interleave_block` IDs whose number modulo `interleave_of`
 * equals `interleave_remainder`; NULL if it allocates all blocks.
 */
export class AddTagSettings1795219200003 implements MigrationInterface {
  readonly name = 'AddTagSettings1795219200003';

  async up(runner: SchemaRunner): Promise<void> {
    for (const column of COLUMNS) {
      const [name = ''] = column.split(' ');
      if (await runner.hasColumn('leaf_alloc', name)) continue;
      await runner.query(`ALTER TABLE leaf_alloc ADD COLUMN ${column} NULL`);
    }
  }

  /** Keeps the columns: without its settings, a tag would issue different IDs. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
