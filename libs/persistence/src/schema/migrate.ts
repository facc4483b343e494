import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { DEFAULT_STEP, messageOf } from '@leaf-ids/core/internal';
import type { SchemaDialect } from './schema-dialect';

/** A separate table: an application that shares the database has its own migrations table. */
export const MIGRATIONS_TABLE = 'leaf_migrations';

/** The fields of the test tag in a new database, as in the Java service. */
export const FIRST_TAG_FIELDS = { step: DEFAULT_STEP, description: 'Test leaf Segment Mode Get Id' };

/** Another server is changing the schema, or is the only one that may change it. */
export class MigrationsLocked extends Error {}

export interface MigrateOptions {
  /** Tag to create in a new, empty table; none by default. */
  readonly firstTag?: string;
  /** Called when the tables were created. */
  readonly onCreated?: () => void;
}

/**
 * Runs pending migrations. Idempotent, and safe while other servers do the same on any node of the database.
 *
 * @throws MigrationsLocked while another server is changing the schema; retry later
 */
export async function migrate(dataSource: DataSource, dialect: SchemaDialect, options: MigrateOptions): Promise<void> {
  const runner = dataSource.createQueryRunner();
  const executor = new MigrationExecutor(dataSource, runner);
  try {
    // TypeORM 0.3 creates a missing table when it is asked for pending migrations: only one server may do that.
    const isNew = !(await runner.hasTable(MIGRATIONS_TABLE));
    if (!isNew && (await executor.getPendingMigrations()).length === 0) return;
    await dialect.alone(runner, () => runPending(executor, runner, options));
  } finally {
    await runner.release();
  }
}

/** A migration is recorded after its tables and the first tag exist; until then it can be repeated. */
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
