import type { DataSource } from 'typeorm';
import { codeOf, LeafError } from '@leaf/core';
import type { DatabaseTarget } from '../database/database-url';

type Server = Exclude<DatabaseTarget['dialect'], 'sqlite'>;

/** What is done to each table. */
const RIGHTS = {
  leaf_alloc: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  leaf_deleted_tag: ['SELECT', 'INSERT', 'UPDATE'],
  leaf_segment_server: ['SELECT', 'INSERT', 'UPDATE'],
  leaf_registry: ['SELECT', 'INSERT', 'UPDATE'],
} as const;
type Right = (typeof RIGHTS)[keyof typeof RIGHTS][number];
const NAMES = [...Object.keys(RIGHTS), 'leaf_workerid_alloc', 'leaf_worker_pool'].map((name) => `'${name}'`).join(', ');

/** Statements that need the right, and change nothing. */
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
const DENIED = new Set(['ER_TABLEACCESS_DENIED_ERROR', 'ER_COLUMNACCESS_DENIED_ERROR', '42501']);

/** Tables whose content a crash or a rollback does not leave as it was committed, and what to do about one. */
const UNSAFE: Readonly<Record<Server, string>> = {
  mysql: `SELECT tables.table_name AS name, CONCAT('ENGINE=', tables.engine) AS kind
    FROM information_schema.tables AS tables
    LEFT JOIN information_schema.engines AS engines ON engines.engine = tables.engine
    WHERE tables.table_schema = DATABASE() AND tables.table_name IN (${NAMES})
      AND tables.engine IS NOT NULL AND COALESCE(engines.transactions, 'NO') <> 'YES'`,
  postgres: `SELECT relname AS name, 'UNLOGGED' AS kind FROM pg_class
    WHERE relpersistence <> 'p' AND oid IN (SELECT to_regclass(name) FROM unnest(ARRAY[${NAMES}]) AS name)`,
};
const REMEDIES: Readonly<Record<Server, (table: string) => string>> = {
  mysql: (table) => `ALTER TABLE ${table} ENGINE=InnoDB`,
  postgres: (table) => `ALTER TABLE ${table} SET LOGGED`,
};
const USERS: Readonly<Record<Server, string>> = {
  // The name of a host has no @.
  mysql: `SELECT CONCAT('''', SUBSTRING_INDEX(CURRENT_USER(), '@', 1), '''@''', SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''') AS name`,
  postgres: 'SELECT quote_ident(current_user) AS name',
};

/**
 * Makes sure that the tables keep what was committed. One that is missing shows where it is needed.
 *
 * @throws LeafError `LEAF_DATABASE_UNUSABLE`, with the statement that mends it
 */
export async function assertTables(
  dataSource: DataSource,
  { dialect, description }: Pick<DatabaseTarget, 'dialect' | 'description'>,
): Promise<void> {
  if (dialect === 'sqlite') return;
  const [unsafe] = await dataSource.query<{ name: string; kind: string }[]>(UNSAFE[dialect]);
  if (unsafe !== undefined) {
    throw new LeafError(
      'LEAF_DATABASE_UNUSABLE',
      `The table ${unsafe.name} of ${description} is ${unsafe.kind}: what was committed can be lost, and IDs come twice. With all servers stopped: ${REMEDIES[dialect](unsafe.name)}.`,
    );
  }
}

/**
 * Makes sure that this user may do to the tables of the tags what it will have to.
 *
 * @throws LeafError `LEAF_DATABASE_UNUSABLE`, with the statement that mends it
 */
export async function assertRights(
  dataSource: DataSource,
  { dialect, description }: Pick<DatabaseTarget, 'dialect' | 'description'>,
): Promise<void> {
  if (dialect === 'sqlite') return;
  for (const [table, rights] of Object.entries(RIGHTS)) {
    for (const right of rights) {
      if (!(await isDenied(dataSource, PROBES[right](table)))) continue;
      const [user] = await dataSource.query<{ name: string }[]>(USERS[dialect]);
      throw new LeafError(
        'LEAF_DATABASE_UNUSABLE',
        `The user of ${description} may not ${right} on the table ${table}. GRANT ${rights.join(', ')} ON ${table} TO ${user?.name ?? 'it'}.`,
      );
    }
  }
}

/** Any other fault shows where the table is used. */
async function isDenied(dataSource: DataSource, probe: string): Promise<boolean> {
  try {
    await dataSource.query(probe);
    return false;
  } catch (error) {
    return DENIED.has(codeOf(error) ?? '');
  }
}
