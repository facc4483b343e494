import { readFileSync } from 'node:fs';
import type { DataSourceOptions } from 'typeorm';
import { LeafError, messageOf } from '@leaf/core';
import { migrations } from '@leaf/migrations';
import type { DatabaseTarget } from './database-url';
import { loadMysql } from './mysql/mysql-driver';
import { loadSqlite, type SqliteConnection } from './sqlite/sqlite-driver';

export interface ConnectionLimits {
  /** How long connecting may take, in milliseconds. */
  readonly connectMs: number;
  /** How long a statement may take, its wait for a connection included, in milliseconds. */
  readonly queryMs: number;
  /** How long closing may take, in milliseconds: a pool waits for ever for a statement that is never answered. */
  readonly closeMs: number;
  /** Connections at most; SQLite has one. */
  readonly connections: number;
}

interface TlsOptions {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
}

/** Of Leaf alone: an application in whose database it lives has a table of migrations of its own. */
export const MIGRATIONS_TABLE = 'leaf_migrations';

export const DEFAULT_LIMITS: ConnectionLimits = { connectMs: 2000, queryMs: 2000, closeMs: 2000, connections: 8 };

/** What TypeORM needs to know of a database. */
export async function dataSourceOptions(target: DatabaseTarget, limits: ConnectionLimits): Promise<DataSourceOptions> {
  // The logger `debug` is silent; the others print slow statements whatever `logging` says.
  const common = {
    migrations,
    migrationsTableName: MIGRATIONS_TABLE,
    migrationsTransactionMode: 'all',
    logging: false,
    logger: 'debug',
  } as const;
  switch (target.dialect) {
    case 'sqlite':
      return {
        ...common,
        type: 'better-sqlite3',
        driver: await loadSqlite(),
        database: target.file,
        timeout: limits.queryMs,
        prepareDatabase,
      };
    case 'mysql': {
      const { host, port, username, password, database } = target;
      const ssl = tlsOptions(target);
      return {
        ...common,
        ...{ host, port, username, password, database },
        type: 'mysql',
        driver: await loadMysql(),
        charset: 'utf8mb4',
        timezone: 'Z',
        supportBigNumbers: true,
        multipleStatements: true,
        connectTimeout: limits.connectMs,
        poolSize: limits.connections,
        maxQueryExecutionTime: limits.queryMs,
        enableQueryTimeout: true,
        // Without verifyIdentity, mysql2 takes any certificate of the authority for any host.
        ...(ssl === undefined ? {} : { ssl: { ...ssl, verifyIdentity: ssl.rejectUnauthorized } }),
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
        ssl: tlsOptions(target) ?? false,
        extra: { query_timeout: limits.queryMs, statement_timeout: limits.queryMs },
      };
    }
  }
}

function tlsOptions({ tls, rootCertificate }: Exclude<DatabaseTarget, { dialect: 'sqlite' }>): TlsOptions | undefined {
  if (tls === 'off') return undefined;
  const ca = rootCertificate === undefined ? {} : { ca: readCertificates(rootCertificate) };
  return { rejectUnauthorized: tls === 'verify', ...ca };
}

function readCertificates(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      `The certificates of sslrootcert cannot be read: ${messageOf(error)}. Name a PEM file that this user may read.`,
      { cause: error },
    );
  }
}

/** WAL with a synced log: what was committed survives a kill and a power cut. */
function prepareDatabase(database: SqliteConnection): void {
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  const [check] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[];
  if (check?.quick_check !== 'ok') throw new Error(`file is damaged: ${check?.quick_check ?? 'no answer'}`);
}
