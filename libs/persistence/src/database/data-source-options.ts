import { readFileSync } from 'node:fs';
import type { DataSourceOptions } from 'typeorm';
import { LeafError, messageOf } from '@leaf/core';
import { migrations } from '@leaf/migrations';
import type { CommonOptions, ConnectionLimits } from '../connections/connection-limits';
import type { DatabaseTarget, ServerTarget } from './database-url';
import { lentOptions } from './lent-database';
import { loadMysql } from '../dialects/mysql-driver';
import { passwordReader } from '../connections/password-file';
import { MIGRATIONS_TABLE } from '../schema/migrations-table';
import { loadSqlite, type SqliteConnection } from '../dialects/sqlite-driver';

interface TlsOptions {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** What TypeORM needs to know of a database. */
export async function dataSourceOptions(target: DatabaseTarget, limits: ConnectionLimits): Promise<DataSourceOptions> {
  // The logger `debug` is silent; the others print slow statements whatever `logging` says.
  const common: CommonOptions = {
    migrations,
    migrationsTableName: MIGRATIONS_TABLE,
    migrationsTransactionMode: 'all',
    logging: false,
    logger: 'debug',
  };
  if ('lent' in target) return lentOptions(target, common, limits);
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
      const { host, port, username, password, database, passwordFile } = target;
      const ssl = tlsOptions(target);
      return {
        ...common,
        ...{ host, port, username, password, database },
        ...(target.socket === undefined ? {} : { socketPath: target.socket }),
        type: 'mysql',
        driver: await loadMysql(passwordFile === undefined ? undefined : passwordReader(passwordFile)),
        charset: 'utf8mb4',
        timezone: 'Z',
        supportBigNumbers: true,
        multipleStatements: true,
        connectTimeout: limits.connectMs,
        poolSize: limits.connections,
        // Without verifyIdentity, mysql2 takes any certificate of the authority for any host.
        ...(ssl === undefined ? {} : { ssl: { ...ssl, verifyIdentity: ssl.rejectUnauthorized } }),
      };
    }
    case 'postgres': {
      const { port, username, database, schema, passwordFile } = target;
      const password = passwordFile === undefined ? target.password : passwordReader(passwordFile);
      const options = schema === undefined ? {} : { options: `-c search_path=${searchPath(schema)}` };
      return {
        ...common,
        ...{ host: target.socket ?? target.host, port, username, password, database },
        type: 'postgres',
        applicationName: 'leaf',
        connectTimeoutMS: limits.connectMs,
        poolSize: limits.connections,
        ssl: tlsOptions(target) ?? false,
        extra: { query_timeout: limits.queryMs, ...options },
      };
    }
  }
}

/** As an identifier, in an option of PostgreSQL's command line, where a backslash keeps white space. */
function searchPath(schema: string): string {
  return `"${schema.replaceAll('"', '""')}"`.replaceAll(/[\s\\]/g, '\\$&');
}

function tlsOptions({ tls, rootCertificate, clientCertificate }: ServerTarget): TlsOptions | undefined {
  if (tls === 'off') return undefined;
  return {
    rejectUnauthorized: tls === 'verify',
    ...(rootCertificate !== undefined && { ca: readPem('sslrootcert', rootCertificate) }),
    ...(clientCertificate !== undefined && {
      cert: readPem('sslcert', clientCertificate.certificate),
      key: readPem('sslkey', clientCertificate.key),
    }),
  };
}

function readPem(parameter: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      `The file of ${parameter} cannot be read: ${messageOf(error)}. Name a PEM file that this user may read.`,
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
