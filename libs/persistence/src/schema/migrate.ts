import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { codeOf, LeafError, messageOf } from '@leaf/core';
import { databaseFault } from '../connections/database-faults';
import type { DatabaseTarget } from '../database/database-url';
import { MYSQL_GUARD } from '../dialects/mysql-guard';
import { otherSchemaMember } from '../dialects/mysql-group-replication';
import { CREATE_MIGRATIONS_TABLE } from './migrations-table';
import type { Statement } from '../connections/sql-database';

/** Names the lock that lets one server at a time change the schema; PostgreSQL wants a number. */
const LOCK = 'leaf_migrations';
const LOCK_NUMBER = 0x1eaf;

/** What a change of the schema meets that another server is carrying out at the same time. */
const CARRIED_OUT_ELSEWHERE = new Set(['ER_TABLE_EXISTS_ERROR', 'ER_DUP_FIELDNAME', 'ER_DUP_ENTRY']);

/** Of the tag that a new database begins with, as the Java service has it. */
export const FIRST_TAG_FIELDS = { step: 2000, description: 'Test leaf Segment Mode Get Id' };

/** Another server changes the schema, or has to. */
export class MigrationsLocked extends Error {}

export interface MigrateOptions {
  /** What a new, empty table of tags begins with; left out: none. */
  readonly firstTag?: string;
  /** Told that the tables were made. */
  readonly onCreated?: () => void;
}

/**
 * Brings the schema up to date. Idempotent, and safe while other servers do the same on any node of the database.
 *
 * @throws MigrationsLocked when another server is doing so; try again
 */
export async function migrate(
  dataSource: DataSource,
  { dialect }: Pick<DatabaseTarget, 'dialect'>,
  options: MigrateOptions,
): Promise<void> {
  const runner = dataSource.createQueryRunner();
  const executor = new MigrationExecutor(dataSource, runner);
  const bringUpToDate = (): Promise<void> => runPending(executor, runner, options);
  try {
    if ((await executor.getPendingMigrations()).length === 0) return;
    if (dialect === 'mysql') await onMysql(runner, bringUpToDate);
    else if (dialect === 'postgres') await onPostgres(runner, bringUpToDate);
    else await inTransaction(runner, bringUpToDate);
  } finally {
    await runner.release();
  }
}

/** The tables of a migration are there, with the first tag, before it is recorded: until then it can be done again. */
async function runPending(executor: MigrationExecutor, runner: QueryRunner, options: MigrateOptions): Promise<void> {
  for (const migration of await executor.getPendingMigrations()) {
    const { instance } = migration;
    if (instance !== undefined && migration.name.startsWith('CreateLeafTables')) {
      const up = async (): Promise<void> => {
        await instance.up(runner);
        await beginTags(runner, options);
      };
      migration.instance = { up, down: () => instance.down(runner) };
    }
    await executor.executeMigration(migration);
  }
}

async function beginTags(runner: QueryRunner, { firstTag, onCreated }: MigrateOptions): Promise<void> {
  const some = (await runner.query('SELECT 1 FROM leaf_alloc LIMIT 1')) as unknown[];
  if (some.length > 0) return;
  onCreated?.();
  if (firstTag === undefined) return;
  await runner.query(
    `INSERT INTO leaf_alloc (biz_tag, max_id, step, description)
     VALUES ('${firstTag}', 1, ${FIRST_TAG_FIELDS.step}, '${FIRST_TAG_FIELDS.description}')`,
  );
}

async function inTransaction(runner: QueryRunner, work: () => Promise<void>): Promise<void> {
  await runner.startTransaction();
  try {
    await work();
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  }
}

/**
 * GET_LOCK locks one node. In Group Replication one member alone changes the schema; Galera carries out each change on
 * all nodes at one place in their common order, so that the second server of two is refused by what the first has done.
 */
async function onMysql(runner: QueryRunner, bringUpToDate: () => Promise<void>): Promise<void> {
  await assertSchemaMember(runner);
  const [row] = (await runner.query('SELECT GET_LOCK(?, 0) AS taken', [LOCK])) as { taken: number | string | null }[];
  if (Number(row?.taken) !== 1) throw locked();
  try {
    await runner.query(CREATE_MIGRATIONS_TABLE.mysql);
    await bringUpToDate();
  } catch (error) {
    if (CARRIED_OUT_ELSEWHERE.has(codeOf(error) ?? '') || databaseFault(error)?.again === 'soon') throw locked(error);
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

/** The lock ends with the transaction: behind a pooler, the next statement may be in another session. */
function onPostgres(runner: QueryRunner, bringUpToDate: () => Promise<void>): Promise<void> {
  return inTransaction(runner, async () => {
    const rows = (await runner.query('SELECT pg_try_advisory_xact_lock($1)::int AS taken', [LOCK_NUMBER])) as {
      taken: number;
    }[];
    if (rows[0]?.taken !== 1) throw locked();
    await bringUpToDate();
  });
}

function locked(cause?: unknown): MigrationsLocked {
  const because = cause === undefined ? '' : `: ${messageOf(cause)}`;
  return new MigrationsLocked(`another server is changing the schema${because}`, { cause });
}
