import type { DataSource, DataSourceOptions } from 'typeorm';
import { LeafError } from '@leaf/core';
import type { CommonOptions, ConnectionLimits } from '../connections/connection-limits';
import type { LentTarget } from './database-url';
import { loadMysql } from '../dialects/mysql-driver';

const DIALECTS: Readonly<Record<string, LentTarget['dialect']>> = {
  mysql: 'mysql',
  mariadb: 'mysql',
  postgres: 'postgres',
};

/** Enough for the allocations of an application; more wait for each other. */
const CONNECTIONS = 2;

/**
 * The database of an application's data source, to be connected to with the same options. Its own connections are never
 * used: no transaction of the application reaches an allocation, and neither uses up the connections of the other.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` when it is no database server
 */
export function lentTarget({ options }: DataSource): LentTarget {
  const dialect = DIALECTS[options.type];
  if (dialect === undefined) throw unshareable(options);
  const description = `${options.type} database ${String(options.database ?? '')} of the application`;
  return { dialect, lent: options, description };
}

/** The options of the application, without what is the application's alone: entities, subscribers, caches, migrations. */
export async function lentOptions(
  { lent }: LentTarget,
  common: CommonOptions,
  { connectMs }: ConnectionLimits,
): Promise<DataSourceOptions> {
  const ours = {
    ...{ entities: [], subscribers: [], synchronize: false, dropSchema: false, migrationsRun: false, cache: false },
    ...{ entityPrefix: '', poolSize: CONNECTIONS, ...common },
  };
  const extra = lent.extra as object | undefined;
  if (lent.type === 'postgres') {
    return {
      ...lent,
      ...ours,
      connectTimeoutMS: connectMs,
      applicationName: 'leaf',
      extra: { ...extra, max: CONNECTIONS },
    };
  }
  if (lent.type !== 'mysql' && lent.type !== 'mariadb') throw unshareable(lent);
  return {
    ...lent,
    ...ours,
    ...{ charset: 'utf8mb4', timezone: 'Z', supportBigNumbers: true, bigNumberStrings: false },
    ...{
      multipleStatements: true,
      connectTimeout: connectMs,
      driver: await loadMysql(),
      extra: { ...extra, connectionLimit: CONNECTIONS },
    },
  };
}

function unshareable({ type }: DataSourceOptions): LeafError {
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    `Leaf does not share a data source of type ${type}: on SQLite, where there is one writer at a time, an ID that is taken inside of a transaction would wait for the end of that transaction. Give Leaf a database of its own, for example database: 'sqlite:./data/leaf.sqlite'.`,
  );
}
