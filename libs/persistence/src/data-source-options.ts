import Libsql from 'libsql';
import type { DataSourceOptions } from 'typeorm';
import { migrations } from '@leaf/migrations';
import type { DatabaseTarget, TlsMode } from './database-url';

export interface ConnectionLimits {
  /** How long connecting may take, in milliseconds. */
  readonly connectMs: number;
  /** How long a statement may take, its wait for a connection included, in milliseconds. */
  readonly queryMs: number;
  /** Connections at most; SQLite has one. */
  readonly connections: number;
}

export const DEFAULT_LIMITS: ConnectionLimits = { connectMs: 2000, queryMs: 2000, connections: 8 };

/** What TypeORM needs to know of a database. */
export function dataSourceOptions(target: DatabaseTarget, limits: ConnectionLimits): DataSourceOptions {
  // The logger `debug` is silent; the others print slow statements whatever `logging` says.
  const common = { migrations, migrationsTransactionMode: 'all', logging: false, logger: 'debug' } as const;
  switch (target.dialect) {
    case 'sqlite':
      return {
        ...common,
        type: 'better-sqlite3',
        driver: Libsql,
        database: target.file,
        timeout: limits.queryMs,
        prepareDatabase,
      };
    case 'mysql': {
      const { host, port, username, password, database } = target;
      const ssl = tlsOptions(target.tls);
      return {
        ...common,
        ...{ host, port, username, password, database },
        type: 'mysql',
        charset: 'utf8mb4',
        timezone: 'Z',
        supportBigNumbers: true,
        multipleStatements: true,
        connectTimeout: limits.connectMs,
        poolSize: limits.connections,
        maxQueryExecutionTime: limits.queryMs,
        enableQueryTimeout: true,
        ...(ssl === undefined ? {} : { ssl }),
      };
    }
    case 'postgres': {
      const { host, port, username, password, database } = target;
      return {
        ...common,
        ...{ host, port, username, password, database },
        type: 'postgres',
        applicationName: 'leaf',
        connectTimeoutMS: limits.connectMs,
        poolSize: limits.connections,
        ssl: tlsOptions(target.tls) ?? false,
        extra: { query_timeout: limits.queryMs, statement_timeout: limits.queryMs },
      };
    }
  }
}

function tlsOptions(mode: TlsMode): { readonly rejectUnauthorized: boolean } | undefined {
  return mode === 'off' ? undefined : { rejectUnauthorized: mode === 'verify' };
}

/** WAL with a synced log: what was committed survives a kill and a power cut. */
function prepareDatabase(database: Libsql.Database): void {
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  const [check] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[];
  if (check?.quick_check !== 'ok') throw new Error(`file is damaged: ${check?.quick_check ?? 'no answer'}`);
}
