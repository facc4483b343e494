import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, codeOf, LeafError, messageOf, type RandomSource, retry } from '@leaf/core';
import type { DatabaseTarget } from './database-url';
import { assertColumns } from '../schema/columns';
import { type ConnectionLimits, DEFAULT_LIMITS, limitsOf } from '../connections/connection-limits';
import { ROLE_SCHEMA } from '../dialects/postgres-session';
import { dataSourceOptions } from './data-source-options';
import { LeafDataSource } from './leaf-data-source';
import { migrate, MigrationsLocked } from '../schema/migrate';
import { provideDatabaseFile } from '../dialects/sqlite-file';
import { assertRights, assertTables } from '../schema/tables';

export interface OpenDatabaseOptions {
  readonly target: DatabaseTarget;
  /** Bring the schema up to date. */
  readonly migrate: boolean;
  /** Settings of the database that can lose a commit, and are accepted all the same. */
  readonly accept?: readonly string[];
  /** Told of each of them that the database has. */
  readonly onAccepted?: (problem: string) => void;
  /** False: only its worker IDs are used. */
  readonly hasTags?: false;
  /** What a new, empty database begins with; left out: no tag. */
  readonly firstTag?: string;
  /** Told that the tables were made: every tag begins at 1. */
  readonly onCreated?: () => void;
  /** Told of what goes wrong while closing. */
  readonly onCloseProblem: (step: string, problem: string) => void;
  /** Told that the database cannot be reached yet, and when the next try is. */
  readonly onRetry?: (problem: string, waitMs: number) => void;
  /** Tries in all, for a database that is not up yet or a lock that others hold; about half a minute by default. */
  readonly attempts?: number;
  /** {@link DEFAULT_LIMITS} when left out; what the URL of the database says goes before them. */
  readonly limits?: ConnectionLimits;
  /** Ends the wait for a database that is not up yet. */
  readonly signal?: AbortSignal;
}

/** The tag to try that a new database begins with: the one of the Java service. */
export const FIRST_TAG = 'leaf-segment-test';

/**
 * How long SQLite itself waits for another process that writes to the file, in milliseconds. The thread stands still
 * meanwhile: longer waits are ours.
 */
const SQLITE_WAIT_MS = 5;

export const OPEN_RETRY = { attempts: 35, firstMs: 50, maxMs: 1000 };
/** A database that is just being started, not reachable yet, or too busy to answer in time. */
const NOT_UP_YET = new Set([
  'ECONNREFUSED',
  // A proxy in front of it, while nothing is behind.
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EAI_AGAIN',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_QUERY_TIMEOUT',
  '55P03',
  '57014',
  '57P03',
]);
/** The same from drivers that give it no code. */
const NOT_IN_TIME =
  /^(timeout expired|timeout exceeded when trying to connect|Connection terminated due to connection timeout|Query read timeout)$|max_statement_time exceeded/;

/** A pooler takes no settings at the start of a connection. */
const NO_OPTIONS = /^unsupported startup parameter/;

/**
 * Opens the database and brings its schema up to date; safe when several servers do so at once. A database server that
 * is not up yet, or does not answer in time, is waited for.
 *
 * @throws LeafError `LEAF_DATA_DIR_UNUSABLE` or `LEAF_DATABASE_UNUSABLE`, naming the database and the way out
 */
export async function openDatabase(
  options: OpenDatabaseOptions,
  clock: Clock,
  random: RandomSource,
): Promise<LeafDataSource> {
  const { target } = options;
  const limits = limitsOf(target, options.limits ?? DEFAULT_LIMITS);
  if ('file' in target) await makeDirectory(dirname(target.file));
  const settings = await dataSourceOptions(target, limits);
  const dataSource = new LeafDataSource(target, settings, limits, clock, options.onCloseProblem, {
    accepted: options.accept ?? [],
    onAccepted: ({ setting, value, consequence }) => options.onAccepted?.(`${setting} is ${value}: ${consequence}`),
  });
  const attempt = async (): Promise<void> => {
    if (!dataSource.isInitialized) await dataSource.initialize();
    await dataSource.access.assertDurable();
    await assertColumns(dataSource, target, !options.migrate);
    if (options.migrate) await migrate(dataSource, target, options);
    await assertTables(dataSource, target);
    if (options.hasTags !== false) await assertRights(dataSource, target);
    // From here on the thread does not wait.
    if ('file' in target) await dataSource.query(`PRAGMA busy_timeout = ${SQLITE_WAIT_MS}`);
  };
  try {
    if ('file' in target) await provideDatabaseFile(target.file);
    const onRetry = (error: unknown, _: number, waitMs: number): void => {
      if (!(error instanceof MigrationsLocked)) options.onRetry?.(messageOf(error), waitMs);
    };
    const { signal, attempts = OPEN_RETRY.attempts } = options;
    const retryOptions = { ...OPEN_RETRY, attempts, isRetryable: isNotUpYet, onRetry, ...(signal && { signal }) };
    await retry(attempt, retryOptions, clock, random);
    return dataSource;
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy();
    if (error instanceof LeafError && error.code === 'LEAF_DATABASE_UNUSABLE') throw error;
    throw new LeafError('LEAF_DATABASE_UNUSABLE', explain(target, error), { cause: error });
  }
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

function explain(target: DatabaseTarget, error: unknown): string {
  const code = codeOf(error);
  const problem = `The database ${target.description} cannot be used: ${messageOf(error)}.`;
  if (target.dialect !== 'sqlite') {
    const isSchemaRefused = 'schema' in target && target.schema !== undefined && NO_OPTIONS.test(messageOf(error));
    if (isSchemaRefused) return `${problem} ${ROLE_SCHEMA}`;
    return `${problem} Check its address and credentials in LEAF_DATABASE_URL or LEAF_DATABASE_URLS, and that the user may create tables, or set LEAF_DATABASE_MIGRATE=false and create them.`;
  }
  if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT' || /damaged|malformed/.test(problem)) {
    return `${problem} Nothing was changed. Restore it from a backup; without one, move it away, start, and raise max_id of every tag above the highest ID in use.`;
  }
  if (isBusy(error)) return `${problem} Another process holds it; stop that one, or wait until it is done.`;
  return `${problem} Check that its disk has room and can be written, and that this user may write the file and its directory, or name another one in LEAF_DATABASE_URL.`;
}

/** Whether the same may succeed later without anybody changing a setting. */
export function isNotUpYet(error: unknown): boolean {
  if (error instanceof MigrationsLocked || isBusy(error)) return true;
  return NOT_UP_YET.has(codeOf(error) ?? '') || NOT_IN_TIME.test(messageOf(error));
}

function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') === true;
}
