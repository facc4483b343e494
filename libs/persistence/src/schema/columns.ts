import type { DataSource } from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import { TABLES } from '../stores/entities';
import type { Width } from '../stores/table';
import type { SchemaDialect } from './schema-dialect';

interface Column {
  readonly name: string;
  readonly type: string;
}

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
  for (const [table, needed] of Object.entries(TABLES)) {
    const columns = await dataSource.query<Column[]>(dialect.columns, [table]);
    if (columns.length === 0) continue;
    for (const [name, { width, added }] of Object.entries(needed)) {
      if (width === undefined) continue;
      const type = columns.find((column) => column.name === name)?.type;
      if (type === undefined ? !complete && added === true : width === 'any' || dialect.holds(type, width)) continue;
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
