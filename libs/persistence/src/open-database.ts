import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import Libsql from 'libsql';
import { type Clock, LeafError, messageOf, type RandomSource, Releasers, retry } from '@leaf/core';
import { migrations } from '@leaf/migrations';
import type { DatabaseTarget } from './database-url';
import { LeafDataSource } from './leaf-data-source';
import { provideDatabaseFile } from './sqlite/database-file';

export interface OpenDatabaseOptions {
  readonly target: DatabaseTarget;
  /** Bring the schema up to date. */
  readonly migrate: boolean;
  /** Told of what goes wrong while closing. */
  readonly onCloseProblem: (step: string, problem: string) => void;
}

/** A statement waits this long for another process's lock, in milliseconds. */
const BUSY_TIMEOUT_MS = 2000;
const RETRY = { attempts: 5, firstMs: 50, maxMs: 1000 };

/**
 * Opens the database and brings its schema up to date; safe when several servers do so at once.
 *
 * @throws LeafError `LEAF_DATA_DIR_UNUSABLE` or `LEAF_DATABASE_UNUSABLE`, naming the file and the way out
 */
export async function openDatabase(
  options: OpenDatabaseOptions,
  clock: Clock,
  random: RandomSource,
): Promise<LeafDataSource> {
  const { target } = options;
  await makeDirectory(dirname(target.file));
  const dataSource = new LeafDataSource(
    {
      type: 'better-sqlite3',
      driver: Libsql,
      database: target.file,
      timeout: BUSY_TIMEOUT_MS,
      prepareDatabase,
      migrations,
      migrationsTransactionMode: 'all',
      logging: false,
    },
    new Releasers(clock, options.onCloseProblem),
  );
  try {
    await provideDatabaseFile(target.file);
    await dataSource.initialize();
    const migrate = async (): Promise<void> => {
      await dataSource.runMigrations();
    };
    if (options.migrate) await retry(migrate, { ...RETRY, isRetryable: isBusy }, clock, random);
    return dataSource;
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy();
    throw new LeafError('LEAF_DATABASE_UNUSABLE', explain(target, error), { cause: error });
  }
}

/** WAL with a synced log: what was committed survives a kill and a power cut. */
function prepareDatabase(database: Libsql.Database): void {
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  const [check] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[];
  if (check?.quick_check !== 'ok') throw new Error(`file is damaged: ${check?.quick_check ?? 'no answer'}`);
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw new LeafError(
      'LEAF_DATA_DIR_UNUSABLE',
      `The directory ${path} cannot be made: ${messageOf(error)}. Create it for this user, or name another one in LEAF_DATA_DIR or LEAF_DATABASE_URL.`,
      { cause: error },
    );
  }
}

function explain({ file }: DatabaseTarget, error: unknown): string {
  const code = codeOf(error);
  const problem = `The database ${file} cannot be used: ${messageOf(error)}.`;
  if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT' || /damaged|malformed/.test(problem)) {
    return `${problem} Nothing was changed. Restore it from a backup; without one, move it away, start, and raise max_id of every tag above the highest ID in use.`;
  }
  if (isBusy(error)) return `${problem} Another process holds it; stop that one, or wait until it is done.`;
  return `${problem} Check that this user may write the file and its directory, or name another one in LEAF_DATABASE_URL.`;
}

function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') === true;
}

function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
