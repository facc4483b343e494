import type { QueryRunner } from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import { codeOf } from '@leaf-ids/core/internal';
import type { Statement } from '../../connections/sql-database';
import { holdsExactly } from '../../schema/tables';
import { locked, MIGRATIONS_TABLE, MigrationsLocked } from '../../schema/migrate';
import type { SchemaDialect } from '../../schema/schema-dialect';
import { mysqlFault } from './mysql-session';
import { MYSQL_GUARD, otherSchemaMember } from './mysql-guard';

/** Name of the lock that serializes changes of the schema. */
const LOCK = 'leaf_migrations';

/** Errors of a schema change that another server makes at the same time. */
const CONCURRENT_CHANGE = new Set(['ER_TABLE_EXISTS_ERROR', 'ER_DUP_FIELDNAME', 'ER_DUP_ENTRY']);

/**
 * The migrations table of TypeORM, with a unique name so that each migration is recorded once. The statement is
 * idempotent, because another node of a cluster may have executed it.
 */
const CREATE_MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (
  id int NOT NULL AUTO_INCREMENT,
  timestamp bigint NOT NULL,
  name varchar(255) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uk_name (name)
) ENGINE=InnoDB`;

export const MYSQL_SCHEMA: SchemaDialect = {
  type: 'mysql',
  columns: `SELECT LOWER(column_name) AS name, LOWER(data_type) AS type FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ?`,
  holds: holdsExactly,
  createMigrationsTable: CREATE_MIGRATIONS_TABLE,
  isTransactional: false,
  alone,
  unsafeTables: {
    query: (names) => `SELECT tables.table_name AS name, CONCAT('ENGINE=', tables.engine) AS kind
      FROM information_schema.tables AS tables
      LEFT JOIN information_schema.engines AS engines ON engines.engine = tables.engine
      WHERE tables.table_schema = DATABASE() AND tables.table_name IN (${names})
        AND tables.engine IS NOT NULL AND COALESCE(engines.transactions, 'NO') <> 'YES'`,
    remedy: (table) => `ALTER TABLE ${table} ENGINE=InnoDB`,
  },
  rights: {
    denied: ['ER_TABLEACCESS_DENIED_ERROR', 'ER_COLUMNACCESS_DENIED_ERROR'],
    // A user name may contain @; a host name cannot.
    user: `SELECT CONCAT('''', SUBSTRING_INDEX(CURRENT_USER(), '@', 1), '''@''', SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''') AS name`,
  },
};

/**
 * GET_LOCK covers one node. In Group Replication, only one member changes the schema. Galera applies each change on all
 * nodes in one global order, so the second of two concurrent changes fails.
 */
async function alone(runner: QueryRunner, work: () => Promise<void>): Promise<void> {
  await assertSchemaMember(runner);
  const [row] = (await runner.query('SELECT GET_LOCK(?, 0) AS taken', [LOCK])) as { taken: number | string | null }[];
  if (Number(row?.taken) !== 1) throw locked();
  try {
    await runner.query(CREATE_MIGRATIONS_TABLE);
    await work();
  } catch (error) {
    if (CONCURRENT_CHANGE.has(codeOf(error) ?? '') || mysqlFault(error)?.again === 'soon') throw locked(error);
    throw error;
  } finally {
    await runner.query('SELECT RELEASE_LOCK(?)', [LOCK]);
  }
}

/** @throws MigrationsLocked on a member of a group that must not change the schema */
async function assertSchemaMember(runner: QueryRunner): Promise<void> {
  const statement: Statement = (sql, parameters) => runner.query(sql, parameters);
  const [group] = await statement<{ Value: string }[]>("SHOW GLOBAL VARIABLES LIKE 'group_replication_group_name'");
  if (group === undefined || group.Value === '') return;
  let other: string | undefined;
  try {
    await MYSQL_GUARD.askIdentity(statement);
    other = await otherSchemaMember(statement);
  } catch (error) {
    // The member may be about to join its group.
    throw error instanceof LeafError ? new MigrationsLocked(error.message, { cause: error }) : error;
  }
  if (other === undefined) return;
  throw new MigrationsLocked(
    `the schema is not up to date, and only the member ${other} of this group may change it (the ONLINE primary with the lowest member_id). Start one Leaf server with the URL of that member; the others wait for it`,
  );
}
