import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { messageOf } from '@leaf-ids/core';
import type { SchemaDialect } from './schema-dialect';

/** Of Leaf alone: an application in whose database it lives has a table of migrations of its own. */
export const MIGRATIONS_TABLE = 'leaf_migrations';

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
export async function migrate(dataSource: DataSource, dialect: SchemaDialect, options: MigrateOptions): Promise<void> {
  const runner = dataSource.createQueryRunner();
  const executor = new MigrationExecutor(dataSource, runner);
  try {
    if ((await executor.getPendingMigrations()).length === 0) return;
    await dialect.alone(runner, () => runPending(executor, runner, options));
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

export async function inTransaction(runner: QueryRunner, work: () => Promise<void>): Promise<void> {
  await runner.startTransaction();
  try {
    await work();
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  }
}

export function locked(cause?: unknown): MigrationsLocked {
  const because = cause === undefined ? '' : `: ${messageOf(cause)}`;
  return new MigrationsLocked(`another server is changing the schema${because}`, { cause });
}
