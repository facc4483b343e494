import type { DataSource } from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import type { SchemaDialect, Width } from './schema-dialect';

interface Column {
  readonly name: string;
  readonly type: string;
}

/** The required columns. A column that rounds or truncates numbers would make ranges or leases overlap. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, Width>>>> = {
  leaf_alloc: {
    ...{ biz_tag: 'any', max_id: 'bigint', step: 'int', max_step: 'int', last_id: 'bigint', ordering: 'any' },
    ...{ reset_every: 'any', time_zone: 'any', interleave_of: 'int', interleave_remainder: 'int' },
    ...{ interleave_block: 'int', period_start: 'bigint', next_id: 'bigint', issue_limit: 'bigint' },
  },
  leaf_deleted_tag: { biz_tag: 'any', max_id: 'bigint', issue_limit: 'bigint' },
  leaf_segment_server: { generation: 'bigint' },
  leaf_workerid_alloc: { ip_port: 'any', max_timestamp: 'bigint' },
  leaf_worker_pool: { id: 'int', ip_port: 'any', lease_id: 'any', max_timestamp: 'bigint' },
  leaf_registry: { name: 'any', document: 'any' },
};
/** Columns that a migration adds to an existing table. */
const ADDED: readonly string[] = [
  ...['max_step', 'last_id', 'ordering', 'reset_every', 'time_zone'],
  ...[
    'interleave_of',
    'interleave_remainder',
    'interleave_block',
    'period_start',
    'next_id',
    'issue_limit',
    'generation',
  ],
];
const INTS = ['tinyint', 'smallint', 'mediumint', 'int', 'integer'];

/**
 * Checks that existing tables have the required columns, and that these store numbers exactly.
 *
 * @param complete whether the columns that migrations add are required as well
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
      const problem = type === undefined ? `has no column ${name}` : `has the column ${name} of type ${type || 'any'}`;
      throw new LeafError(
        'LEAF_DATABASE_UNUSABLE',
        `The table ${table} of ${description} ${problem}${width === 'any' ? '' : `; it must be ${width}, or IDs could be duplicated`}. Nothing was changed. Create or change the column as described in docs/operations/database.md.`,
      );
    }
  }
}

export async function hasTable(dataSource: DataSource, { columns }: SchemaDialect, table: string): Promise<boolean> {
  return (await dataSource.query<Column[]>(columns, [table])).length > 0;
}

/** For engines whose column types have a fixed width. */
export function holdsExactly(type: string, width: Width): boolean {
  return width === 'int' ? INTS.includes(type) : type === 'bigint';
}
