import type { DataSource } from 'typeorm';
import { LeafError } from '@leaf/core';
import type { DatabaseTarget } from '../database/database-url';

type Dialect = DatabaseTarget['dialect'];
type Width = 'any' | 'int' | 'bigint';

interface Column {
  readonly name: string;
  readonly type: string;
}

/** What ranges and leases are calculated from. In a column that rounds or cuts off, two of them would overlap. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, Width>>>> = {
  leaf_alloc: {
    ...{ biz_tag: 'any', max_id: 'bigint', step: 'int', max_step: 'int', last_id: 'bigint', ordering: 'any' },
    ...{ reset_every: 'any', time_zone: 'any', interleave_of: 'int', interleave_remainder: 'int' },
    ...{ interleave_block: 'int', period_start: 'bigint' },
  },
  leaf_deleted_tag: { biz_tag: 'any', max_id: 'bigint' },
  leaf_workerid_alloc: { ip_port: 'any', max_timestamp: 'bigint' },
  leaf_worker_pool: { id: 'int', ip_port: 'any', lease_id: 'any', max_timestamp: 'bigint' },
  leaf_registry: { name: 'any', document: 'any' },
};
/** Columns that a migration adds to a table that the Java service has made. */
const ADDED: readonly string[] = [
  ...['max_step', 'last_id', 'ordering', 'reset_every', 'time_zone'],
  ...['interleave_of', 'interleave_remainder', 'interleave_block', 'period_start'],
];
const INTS = ['tinyint', 'smallint', 'mediumint', 'int', 'integer'];

/** The columns of a table, by its name; none when there is no table, or none that this user may see. */
const QUERIES: Readonly<Record<Dialect, string>> = {
  sqlite: 'SELECT name, LOWER(type) AS type FROM pragma_table_info(?)',
  mysql: `SELECT LOWER(column_name) AS name, LOWER(data_type) AS type FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ?`,
  postgres: `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
    WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
};

/**
 * Makes sure that the tables, where there are any, hold numbers exactly. Each query about them has a table of its own.
 *
 * @param complete whether what migrations add has to be there
 * @throws LeafError `LEAF_DATABASE_UNUSABLE`, naming the column
 */
export async function assertColumns(
  dataSource: DataSource,
  { dialect, description }: Pick<DatabaseTarget, 'dialect' | 'description'>,
  complete: boolean,
): Promise<void> {
  for (const [table, needed] of Object.entries(NEEDED)) {
    const columns = await dataSource.query<Column[]>(QUERIES[dialect], [table]);
    if (columns.length === 0) continue;
    for (const [name, width] of Object.entries(needed)) {
      const type = columns.find((column) => column.name === name)?.type;
      if (type === undefined ? !complete && ADDED.includes(name) : holds(type, width, dialect)) continue;
      const problem = type === undefined ? `has no column ${name}` : `has ${name} as ${type || 'anything'}`;
      throw new LeafError(
        'LEAF_DATABASE_UNUSABLE',
        `The table ${table} of ${description} ${problem}${width === 'any' ? '' : `, which has to be ${width}: IDs could come twice`}. Nothing was changed. Make the column as docs/operations.md says.`,
      );
    }
  }
}

export async function hasTable(dataSource: DataSource, dialect: Dialect, table: string): Promise<boolean> {
  return (await dataSource.query<Column[]>(QUERIES[dialect], [table])).length > 0;
}

/** In SQLite every type with INT in its name holds any whole number. */
function holds(type: string, width: Width, dialect: Dialect): boolean {
  if (width === 'any') return true;
  if (dialect === 'sqlite') return type.includes('int');
  return width === 'int' ? INTS.includes(type) : type === 'bigint';
}
