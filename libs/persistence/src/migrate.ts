import type { DataSource, QueryRunner } from 'typeorm';
import type { DatabaseTarget } from './database-url';

/** Names the lock that lets one server at a time change the schema; PostgreSQL wants a number. */
const LOCK = 'leaf_migrations';
const LOCK_NUMBER = 0x1eaf;

/** Of the tag that a new database begins with, as the Java service has it. */
export const FIRST_TAG_FIELDS = { step: 2000, description: 'Test leaf Segment Mode Get Id' };

/** Another server is at it. */
export class MigrationsLocked extends Error {}

export interface MigrateOptions {
  /** What a new, empty table of tags begins with; left out: none. */
  readonly firstTag?: string;
  /** Told that the tables were made. */
  readonly onCreated?: () => void;
}

/**
 * Brings the schema up to date.
 *
 * @throws MigrationsLocked when another server is doing so; try again
 */
export async function migrate(
  dataSource: DataSource,
  { dialect }: Pick<DatabaseTarget, 'dialect'>,
  options: MigrateOptions,
): Promise<void> {
  if (dialect === 'sqlite') return bringUpToDate(dataSource, options);
  const runner = dataSource.createQueryRunner();
  try {
    if (!(await tryLock(runner, dialect))) throw new MigrationsLocked('another server is changing the schema');
    try {
      await bringUpToDate(dataSource, options);
    } finally {
      await unlock(runner, dialect);
    }
  } finally {
    await runner.release();
  }
}

async function bringUpToDate(dataSource: DataSource, { firstTag, onCreated }: MigrateOptions): Promise<void> {
  const done = await dataSource.runMigrations();
  if (!done.some(({ name }) => name.startsWith('CreateLeafTables'))) return;
  const some = await dataSource.query<unknown[]>('SELECT 1 FROM leaf_alloc LIMIT 1');
  if (some.length > 0) return;
  onCreated?.();
  if (firstTag === undefined) return;
  await dataSource.query(
    `INSERT INTO leaf_alloc (biz_tag, max_id, step, description)
     VALUES ('${firstTag}', 1, ${FIRST_TAG_FIELDS.step}, '${FIRST_TAG_FIELDS.description}')`,
  );
}

async function tryLock(runner: QueryRunner, dialect: 'mysql' | 'postgres'): Promise<boolean> {
  const [sql, key] =
    dialect === 'mysql'
      ? ['SELECT GET_LOCK(?, 0) AS taken', LOCK]
      : ['SELECT pg_try_advisory_lock($1)::int AS taken', LOCK_NUMBER];
  const [row] = (await runner.query(sql, [key])) as { readonly taken: number | string | null }[];
  return Number(row?.taken) === 1;
}

async function unlock(runner: QueryRunner, dialect: 'mysql' | 'postgres'): Promise<void> {
  if (dialect === 'mysql') await runner.query('SELECT RELEASE_LOCK(?)', [LOCK]);
  else await runner.query('SELECT pg_advisory_unlock($1)', [LOCK_NUMBER]);
}
