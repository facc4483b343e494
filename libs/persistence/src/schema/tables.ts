import type { DataSource } from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import { codeOf } from '@leaf-ids/core/internal';
import type { SchemaDialect } from './schema-dialect';

/** The privileges that Leaf needs on each table. */
const RIGHTS = {
  leaf_alloc: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  leaf_deleted_tag: ['SELECT', 'INSERT', 'UPDATE'],
  leaf_segment_server: ['SELECT', 'INSERT', 'UPDATE'],
  leaf_registry: ['SELECT', 'INSERT', 'UPDATE'],
} as const;
type Right = (typeof RIGHTS)[keyof typeof RIGHTS][number];
const NAMES = [...Object.keys(RIGHTS), 'leaf_workerid_alloc', 'leaf_worker_pool'].map((name) => `'${name}'`).join(', ');

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
