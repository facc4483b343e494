import type { QueryRunner } from 'typeorm';
import { codeOf, LeafError } from '@leaf-ids/core';
import type { Statement } from '../connections/sql-database';
import { holdsExactly } from '../schema/columns';
import { locked, MIGRATIONS_TABLE, MigrationsLocked } from '../schema/migrate';
import type { SchemaDialect } from '../schema/schema-dialect';
import { mysqlFault } from './mysql-faults';
import { otherSchemaMember } from './mysql-group-replication';
import { MYSQL_GUARD } from './mysql-guard';

/** Names the lock that lets one server at a time change the schema. */
const LOCK = 'leaf_migrations';

/** What a change of the schema meets that another server is carrying out at the same time. */
const CARRIED_OUT_ELSEWHERE = new Set(['ER_TABLE_EXISTS_ERROR', 'ER_DUP_FIELDNAME', 'ER_DUP_ENTRY']);

/**
 * As TypeORM makes it, but each migration is recorded once, and the statement is harmless when another node of a cluster
 * has carried it out already.
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
    // The name of a host has no @.
    user: `SELECT CONCAT('''', SUBSTRING_INDEX(CURRENT_USER(), '@', 1), '''@''', SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''') AS name`,
  },
};

/**
 * GET_LOCK locks one node. In Group Replication one member alone changes the schema; Galera carries out each change on
 * all nodes at one place in their common order, so that the second server of two is refused by what the first has done.
 */
async function alone(runner: QueryRunner, work: () => Promise<void>): Promise<void> {
  await assertSchemaMember(runner);
  const [row] = (await runner.query('SELECT GET_LOCK(?, 0) AS taken', [LOCK])) as { taken: number | string | null }[];
  if (Number(row?.taken) !== 1) throw locked();
  try {
    await runner.query(CREATE_MIGRATIONS_TABLE);
    await work();
  } catch (error) {
    if (CARRIED_OUT_ELSEWHERE.has(codeOf(error) ?? '') || mysqlFault(error)?.again === 'soon') throw locked(error);
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
    // It may be about to join its group.
    throw error instanceof LeafError ? new MigrationsLocked(error.message, { cause: error }) : error;
  }
  if (other === undefined) return;
  throw new MigrationsLocked(
    `the schema is not up to date, and in this group only the member ${other} may change it (the ONLINE primary with the lowest member_id). Start one server of Leaf with a URL of that member; the others wait for it`,
  );
}
