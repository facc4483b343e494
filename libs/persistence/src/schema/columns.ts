import type { DataSource } from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import type { SchemaDialect, Width } from './schema-dialect';

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

/**
 * Makes sure that the tables, where there are any, hold numbers exactly. Each query about them has a table of its own.
 *
 * @param complete whether what migrations add has to be there
 * @throws LeafError `LEAF_DATABASE_UNUSABLE`, naming the column
 */
export async function assertColumns(
  dataSource: DataSource,
  dialect: SchemaDialect,
  description: string,
  complete: boolean,
): Promise<void> {
  for (const [table, needed] of Object.entries(NEEDED)) {
    const columns = await dataSource.query<Column[]>(dialect.columns, [table]);
    if (columns.length === 0) continue;
    for (const [name, width] of Object.entries(needed)) {
      const type = columns.find((column) => column.name === name)?.type;
      if (type === undefined ? !complete && ADDED.includes(name) : width === 'any' || dialect.holds(type, width))
        continue;
      const problem = type === undefined ? `has no column ${name}` : `has ${name} as ${type || 'anything'}`;
      throw new LeafError(
        'LEAF_DATABASE_UNUSABLE',
        `The table ${table} of ${description} ${problem}${width === 'any' ? '' : `, which has to be ${width}: IDs could come twice`}. Nothing was changed. Make the column as docs/operations.md says.`,
      );
    }
  }
}

export async function hasTable(dataSource: DataSource, { columns }: SchemaDialect, table: string): Promise<boolean> {
  return (await dataSource.query<Column[]>(columns, [table])).length > 0;
}

/** Where a type says how wide it is. */
export function holdsExactly(type: string, width: Width): boolean {
  return width === 'int' ? INTS.includes(type) : type === 'bigint';
}
