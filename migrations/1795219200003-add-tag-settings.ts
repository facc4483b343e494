import type { MigrationInterface } from 'typeorm';
import type { SchemaRunner } from './schema-runner';

/** Each is optional: a row without them is a tag as the Java service knows it. */
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
 * Settings of a tag. `max_step`: the largest dynamic step. `last_id`: the last ID that may be given. `ordering`:
 * `strict`, or NULL. `reset_every`: `daily`, `monthly`, `yearly`, or NULL; `time_zone`: the IANA zone of that calendar.
 * `interleave_…`: this database gives every block of `interleave_block` IDs whose number, divided by `interleave_of`,
 * leaves `interleave_remainder`; NULL where it gives them all.
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

  /** The columns stay: a tag without its settings would give other IDs. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
