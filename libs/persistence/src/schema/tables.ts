import type { DataSource } from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import { codeOf } from '@leaf-ids/core/internal';
import type { SchemaDialect } from './schema-dialect';
import { TABLES } from '../stores/entities';
import type { Width } from '../stores/table';

/** The privileges that Leaf needs on each table. */
const RIGHTS = {
  leaf_alloc: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  leaf_deleted_tag: ['SELECT', 'INSERT', 'UPDATE'],
  leaf_segment_server: ['SELECT', 'INSERT', 'UPDATE'],
  leaf_registry: ['SELECT', 'INSERT', 'UPDATE'],
} as const;
type Right = (typeof RIGHTS)[keyof typeof RIGHTS][number];
/** Their privileges are needed, and missed, only where numbers are taken. */
const NUMBER_TABLES = ['leaf_number', 'leaf_number_journal', 'leaf_number_head'];
const NAMES = [...Object.keys(RIGHTS), 'leaf_workerid_alloc', 'leaf_worker_pool', ...NUMBER_TABLES]
  .map((name) => `'${name}'`)
  .join(', ');

/** Statements that require the privilege but change nothing. */
const PROBES: Readonly<Record<Right, (table: string) => string>> = {
  SELECT: (table) => `SELECT 1 FROM ${table} WHERE 1 = 0`,
  INSERT: (table) => `INSERT INTO ${table} SELECT * FROM ${table} WHERE 1 = 0`,
  UPDATE: (table) => `UPDATE ${table} SET ${COLUMN[table] ?? ''} = ${COLUMN[table] ?? ''} WHERE 1 = 0`,
  DELETE: (table) => `DELETE FROM ${table} WHERE 1 = 0`,
};
const COLUMN: Readonly<Record<string, string>> = {
  leaf_alloc: 'step',
  leaf_deleted_tag: 'max_id',
  leaf_segment_server: 'server',
  leaf_registry: 'document',
};

/**
 * Checks that commits to the tables are durable. A missing table fails later, when it is used.
 *
 * @throws LeafError `LEAF_DATABASE_UNUSABLE`, with the statement that fixes it
 */
export async function assertTables(
  dataSource: DataSource,
  { unsafeTables }: SchemaDialect,
  description: string,
): Promise<void> {
  if (unsafeTables === undefined) return;
  const [unsafe] = await dataSource.query<{ name: string; kind: string }[]>(unsafeTables.query(NAMES));
  if (unsafe !== undefined) {
    throw new LeafError(
      'LEAF_DATABASE_UNUSABLE',
      `The table ${unsafe.name} of ${description} is ${unsafe.kind}: committed data can be lost, and IDs issued twice. Stop all servers, then run ${unsafeTables.remedy(unsafe.name)}.`,
    );
  }
}

/**
 * Checks that this user has the required privileges on the tables of the tags.
 *
 * @throws LeafError `LEAF_DATABASE_UNUSABLE`, with the statement that fixes it
 */
export async function assertRights(
  dataSource: DataSource,
  { rights: ruled }: SchemaDialect,
  description: string,
): Promise<void> {
  if (ruled === undefined) return;
  for (const [table, rights] of Object.entries(RIGHTS)) {
    for (const right of rights) {
      if (!(await isDenied(dataSource, PROBES[right](table), ruled.denied))) continue;
      const [user] = await dataSource.query<{ name: string }[]>(ruled.user);
      throw new LeafError(
        'LEAF_DATABASE_UNUSABLE',
        `The user of ${description} lacks the privilege ${right} on the table ${table}. Run GRANT ${rights.join(', ')} ON ${table} TO ${user?.name ?? 'the user'}.`,
      );
    }
  }
}

/** Other errors are reported when the table is used. */
async function isDenied(dataSource: DataSource, probe: string, denied: readonly string[]): Promise<boolean> {
  try {
    await dataSource.query(probe);
    return false;
  } catch (error) {
    return denied.includes(codeOf(error) ?? '');
  }
}

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
