import { type Clock, LeafError, type LeafErrorCode, type RandomSource } from '@leaf-ids/core';
import { messageOf, retry, unlessAborted } from '@leaf-ids/core/internal';
import type { DataSourceOptions } from 'typeorm';
import { migrations } from '@leaf-ids/migrations';
import { type ConnectionLimits, DEFAULT_LIMITS } from '../connections/connection-source';
import { FAULT } from '../connections/database-faults';
import type { CommonOptions, Dialect } from '../dialects/shared/dialect';
import { DIALECTS } from '../dialects/dialects';
import { limitsOf } from '../dialects/shared/url-parameters';
import { migrate, MIGRATIONS_TABLE, MigrationsLocked } from '../schema/migrate';
import { assertRights, assertTables, assertColumns } from '../schema/tables';
import { ENTITIES } from '../stores/entities';
import { type DatabaseTarget, sharedOptions } from './database-url';
import { LeafDataSource } from './leaf-data-source';

export interface OpenDatabaseOptions {
  readonly target: DatabaseTarget;
  /** Run pending migrations. */
  readonly migrate: boolean;
  /** Database settings that can lose a commit, accepted by name. */
  readonly accept?: readonly string[];
  /** Called for each accepted setting that the database has. */
  readonly onAccepted?: (problem: string) => void;
  /** False: the database is used only for worker IDs. */
  readonly hasTags?: false;
  /** Tag to create in a new, empty database; none by default. */
  readonly firstTag?: string;
  /** Called when the tables were created: every tag starts at 1. */
  readonly onCreated?: () => void;
  /** Called when closing fails or takes too long. */
  readonly onCloseProblem: (step: string, problem: string) => void;
  /** Called before each retry of a database that is not reachable yet. */
  readonly onRetry?: (problem: string, waitMs: number) => void;
  /** Maximum attempts while the database is down or another server holds the lock; about half a minute by default. */
  readonly attempts?: number;
  /** {@link DEFAULT_LIMITS} by default; parameters of the database URL take precedence. */
  readonly limits?: ConnectionLimits;
  /** Aborts: connections under way are closed, and the call rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** The test tag of a new database, as in the Java service. */
export const FIRST_TAG = 'leaf-segment-test';

/** Errors whose messages already name the remedy. */
const FINAL: readonly LeafErrorCode[] = ['LEAF_DATABASE_UNUSABLE', 'LEAF_DATA_DIR_UNUSABLE'];

const OPEN_RETRY = { attempts: 35, firstMs: 50, maxMs: 1000 };

/**
 * Opens the database and runs pending migrations. Safe when several servers do so at once. Retries while the database
 * server is not up or does not respond in time.
 *
 * @throws LeafError `LEAF_DATA_DIR_UNUSABLE` or `LEAF_DATABASE_UNUSABLE`, naming the database and the remedy
 */
export async function openDatabase(
  options: OpenDatabaseOptions,
  clock: Clock,
  random: RandomSource,
): Promise<LeafDataSource> {
  const { target, signal } = options;
  const dialect = DIALECTS[target.dialect];
  const { driver, schema } = dialect;
  const limits = limitsOf(target, options.limits ?? DEFAULT_LIMITS);
  const settings = await dataSourceOptions(target, limits);
  const dataSource = new LeafDataSource(target, settings, limits, clock, options.onCloseProblem, {
    accepted: options.accept ?? [],
    onAccepted: ({ setting, value, consequence }) => options.onAccepted?.(`${setting} is ${value}: ${consequence}`),
  });
  const attempt = async (): Promise<void> => {
    if (!dataSource.isInitialized) await dataSource.initialize();
    await dataSource.access.assertDurable();
    await assertColumns(dataSource, schema, target.description, !options.migrate);
    if (options.migrate) await migrate(dataSource, schema, options);
    await assertTables(dataSource, schema, target.description);
    if (options.hasTags !== false) await assertRights(dataSource, schema, target.description);
    await driver.opened?.(dataSource);
  };
  try {
    if (!('shared' in target)) await driver.prepare?.(target);
    const onRetry = (error: unknown, _: number, waitMs: number): void => {
      if (!(error instanceof MigrationsLocked)) options.onRetry?.(messageOf(error), waitMs);
    };
    const { attempts = OPEN_RETRY.attempts } = options;
    const isRetryable = (error: unknown): boolean => isNotUpYet(error, dialect);
    const how = { ...OPEN_RETRY, attempts, isRetryable, onRetry, ...(signal && { signal }) };
    const opened = retry(attempt, how, clock, random);
    closeWhenAborted(dataSource, opened, signal);
    await unlessAborted(opened, signal);
    return dataSource;
  } catch (error) {
    if (signal?.aborted) throw error;
    if (dataSource.isInitialized) await dataSource.destroy();
    if (error instanceof LeafError && FINAL.includes(error.code)) throw error;
    const message = missingDatabase(error, target, dialect) ?? unusable(error, target, dialect);
    throw new LeafError('LEAF_DATABASE_UNUSABLE', message, { cause: error });
  }
}

function missingDatabase(error: unknown, target: DatabaseTarget, { driver, session }: Dialect): string | undefined {
  if (driver.createDatabase === undefined || session.faultOf(error) !== FAULT.noDatabase) return undefined;
  const name = 'database' in target ? target.database : '';
  return `The database ${target.description} does not exist. Create it with ${driver.createDatabase(name)}, or correct its name.`;
}

function unusable(error: unknown, target: DatabaseTarget, { driver }: Dialect): string {
  const advice = driver.advice(error, 'schema' in target ? target.schema : undefined);
  return `The database ${target.description} cannot be used: ${messageOf(error)}. ${advice}`;
}

/** A connection under way can be closed only after it was made or has failed. */
function closeWhenAborted(dataSource: LeafDataSource, opened: Promise<void>, signal: AbortSignal | undefined): void {
  const close = (): void => void (signal?.aborted && dataSource.destroy());
  opened.then(close, close);
}

/** Whether a retry may succeed without a change of configuration. */
function isNotUpYet(error: unknown, { session }: Dialect): boolean {
  return error instanceof MigrationsLocked || session.isNotUpYet(error);
}

/** The TypeORM options for a database. */
export async function dataSourceOptions(target: DatabaseTarget, limits: ConnectionLimits): Promise<DataSourceOptions> {
  // The logger `debug` is silent; the others print slow statements even with `logging: false`.
  const common: CommonOptions = {
    entities: ENTITIES,
    migrations,
    migrationsTableName: MIGRATIONS_TABLE,
    migrationsTransactionMode: 'all',
    logging: false,
    logger: 'debug',
  };
  if ('shared' in target) return sharedOptions(target, common, limits);
  return DIALECTS[target.dialect].driver.options(target, common, limits);
}

/** Enough for another server to finish changing the schema. */
const ATTEMPTS = 5;

/** The database of a worker registry, opened on first use. */
export class LazyDatabase {
  private opening: Promise<LeafDataSource> | undefined;
  private readonly closing = new AbortController();

  constructor(
    private readonly options: Omit<OpenDatabaseOptions, 'attempts' | 'signal'>,
    private readonly clock: Clock,
    private readonly random: RandomSource,
  ) {}

  get dialect(): Dialect {
    return DIALECTS[this.target.dialect];
  }

  get target(): DatabaseTarget {
    return this.options.target;
  }

  /**
   * Opens the database; later calls join the first.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE` while the database is down: the next call tries again; or
   *   `LEAF_DATABASE_UNUSABLE`
   */
  open(): Promise<LeafDataSource> {
    const { signal } = this.closing;
    if (signal.aborted) return Promise.reject(signal.reason as LeafError);
    this.opening ??= this.tryOpen();
    return this.opening;
  }

  /** Aborts opening, or closes the open database within its time limit. */
  async close(): Promise<void> {
    this.closing.abort(new LeafError('LEAF_STORE_UNAVAILABLE', 'Leaf is stopping.'));
    const dataSource = await this.opening?.catch(() => undefined);
    await dataSource?.destroy();
  }

  private async tryOpen(): Promise<LeafDataSource> {
    const { signal } = this.closing;
    try {
      return await openDatabase(
        { ...this.options, hasTags: false, attempts: ATTEMPTS, signal },
        this.clock,
        this.random,
      );
    } catch (error) {
      this.opening = undefined;
      if (!(error instanceof LeafError) || !isNotUpYet(error.cause, this.dialect)) throw error;
      throw new LeafError('LEAF_STORE_UNAVAILABLE', error.message, { cause: error.cause, retryAfterMs: 1000 });
    }
  }
}
