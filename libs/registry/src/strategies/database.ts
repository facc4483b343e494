import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DataSource } from 'typeorm';
import { type Clock, formatInstance, LeafError, type StoredRegistry, type StoredWorker } from '@leaf-ids/core';
import {
  both,
  exactlyOne,
  flag,
  formatTime,
  object,
  required,
  type Rules,
  text,
  windowOf,
} from '@leaf-ids/core/internal';
import {
  acceptRule,
  type DatabaseTarget,
  databaseUrlRule,
  dataSourceRule,
  FIXED_WORKERS,
  LazyDatabase,
  sharedTarget,
  parseDatabaseUrl,
  POOL_WORKERS,
  SqlWorkerStore,
  type WorkerDatabase,
  type WorkerTable,
} from '@leaf-ids/persistence';
import { FixedPolicy } from '../policies/fixed-policy';
import { localWorkerBeside } from '../stores/directory/local-workers';
import { PoolPolicy } from '../policies/pool-policy';
import { FILE_RULES, type FileOptions, fileOf, ofProcess } from './file-options';
import type { RegistrySettings, Strategy, StrategyContext } from './strategy';

type Source =
  | {
      /** URL in the format of `parseDatabaseUrl`. The lease uses separate connections. */
      readonly url: string;
    }
  | {
      /** A data source on MySQL, MariaDB or PostgreSQL. Leaf opens separate connections with its options. */
      readonly dataSource: DataSource;
    };

interface SqlOptions {
  /** Whether to migrate the schema. */
  readonly migrate: boolean;
  /** Unsafe database settings, which can lose a commit, to accept. */
  readonly accept?: readonly string[];
}

/** A pool of worker IDs in a table: each server takes a free one. */
export type DatabaseOptions = { readonly strategy: 'database' } & SqlOptions & Source;

/** A row in the table of the Java service for each `ip:port`, in any supported database. */
export type MysqlOptions = { readonly strategy: 'mysql' } & SqlOptions & Source & FileOptions;

const RULES: Rules<DatabaseOptions> = {
  strategy: text,
  url: databaseUrlRule,
  dataSource: dataSourceRule,
  migrate: required(flag),
  accept: acceptRule,
};
const MYSQL_RULES: Rules<MysqlOptions> = { ...RULES, ...FILE_RULES };
const ofOneDatabase = exactlyOne('url', 'dataSource');

export const database: Strategy<DatabaseOptions> = {
  policy: 'pool',
  rule: both(object(RULES), ofOneDatabase),
  remembers,
  create: (options, context) => ({ policy: new PoolPolicy(), store: storeOf(options, POOL_WORKERS, context) }),
  fromSettings: ({ databaseUrl: url, migrate, accept }) => ({ strategy: 'database', url, migrate, accept }),
  ofProcess: (options) => options,
};

export const mysql: Strategy<MysqlOptions> = {
  policy: 'fixed',
  rule: both(object(MYSQL_RULES), ofOneDatabase),
  remembers,
  create: (options, context) => ({
    policy: new FixedPolicy(),
    store: storeOf(options, FIXED_WORKERS, context),
    ...fileOf(options),
  }),
  fromSettings: (settings: RegistrySettings) => ({
    ...{ strategy: 'mysql', url: settings.databaseUrl, migrate: settings.migrate, accept: settings.accept },
    ...(settings.fileFallback ? { fileDirectory: settings.directory } : {}),
  }),
  ofProcess,
};

/** A single file on one host loses no confirmed write. A database in memory has no other servers. */
function remembers(options: SqlOptions & Source): boolean {
  return 'file' in targetOf(options);
}

function storeOf(options: SqlOptions & Source, table: WorkerTable, context: StrategyContext): SqlWorkerStore {
  return new OtherStrategyStore(databaseOf(options, context), table, context.clock);
}

/**
 * Refuses a registry in an SQLite file while a server with the registry `local` uses the same data directory. Each
 * server reads the registry after it has written its first record, so of two that start together one sees the other.
 */
class OtherStrategyStore extends SqlWorkerStore {
  private readonly file: string | undefined;
  private isAlone = false;

  constructor(
    database: WorkerDatabase,
    table: WorkerTable,
    private readonly clock: Clock,
  ) {
    super(database, table);
    this.file = database.target.file;
  }

  override async readRegistry(): Promise<StoredRegistry> {
    if (this.file !== undefined) {
      refuseOtherStrategy(this.description, await localWorkerBeside(this.file, this.clock, !this.isAlone));
    }
    this.isAlone = true;
    return super.readRegistry();
  }
}

/**
 * Refuses the registry `local` while worker IDs are in use beside the same SQLite file of tags: by servers, or by the
 * callers of worker windows. A released record counts, too, until its ceiling: its holder may have used that time.
 */
export async function refuseDatabase(description: string, file: string, context: StrategyContext): Promise<void> {
  const target = workersOf(parseDatabaseUrl(`sqlite:${file}`));
  if (!('file' in target) || target.file === undefined || !existsSync(target.file)) return;
  const { clock, random, onCloseProblem } = context;
  const database = new LazyDatabase({ target, migrate: false, onCloseProblem }, clock, random);
  try {
    for (const table of [POOL_WORKERS, FIXED_WORKERS]) {
      const records = await new SqlWorkerStore(database, table).list();
      const used = records.find(({ record }) => record.ceiling > clock.now());
      refuseOtherStrategy(description, used && `${useOf(used)}: ${target.file}`);
    }
  } finally {
    await database.close();
  }
}

function useOf({ workerId, record }: StoredWorker): string {
  const holder = windowOf(record)?.holder ?? formatInstance(record.instance);
  return `worker ${workerId} of the registry database, held by ${holder} until ${formatTime(record.ceiling)}`;
}

function refuseOtherStrategy(description: string, otherStrategy: string | undefined): void {
  if (otherStrategy === undefined) return;
  throw new LeafError(
    'LEAF_REGISTRY_MISMATCH',
    `Another worker registry than ${description} is in use beside the same SQLite file: ${otherStrategy}. Both would assign the same worker IDs. Use the same option snowflake.registry for all servers and applications of this file, or move them: docs/operations/worker-registry.md#changing-the-registry.`,
  );
}

function databaseOf(
  options: SqlOptions & Source,
  { clock, random, onCloseProblem, onCreated }: StrategyContext,
): WorkerDatabase {
  const { migrate, accept = [] } = options;
  const target = targetOf(options);
  const created = (): void => onCreated?.(target.description);
  return new LazyDatabase({ target, migrate, accept, onCloseProblem, onCreated: created }, clock, random);
}

function targetOf(options: Source): DatabaseTarget {
  return 'dataSource' in options ? sharedTarget(options.dataSource) : workersOf(parseDatabaseUrl(options.url));
}

/** SQLite allows one writer at a time. Leases use a separate file, so that they do not wait for writes of tags. */
function workersOf(target: DatabaseTarget): DatabaseTarget {
  if (!('file' in target) || target.file === undefined) return target;
  const file = join(dirname(target.file), `workers-${basename(target.file)}`);
  return { ...target, file, description: `sqlite:${file}` };
}
