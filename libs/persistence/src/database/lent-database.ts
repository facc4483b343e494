import type { DataSource, DataSourceOptions } from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import type { ConnectionLimits } from '../connections/connection-limits';
import type { CommonOptions } from '../dialects/dialect';
import { DIALECTS } from '../dialects/dialects';
import { dialectLending, type LentTarget } from './database-url';

/** Enough for the allocations of an application; more wait for each other. */
const CONNECTIONS = 2;

/** What is the application's alone. */
const NOTHING = {
  ...{ entities: [], subscribers: [], synchronize: false, dropSchema: false, migrationsRun: false, cache: false },
  entityPrefix: '',
};

/**
 * The database of an application's data source, to be connected to with the same options. Its own connections are never
 * used: no transaction of the application reaches an allocation, and neither uses up the connections of the other.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` when it is no database server
 */
export function lentTarget({ options }: DataSource): LentTarget {
  const dialect = dialectLending(options);
  if (dialect === undefined) throw unshareable(options);
  const description = `${options.type} database ${String(options.database ?? '')} of the application`;
  return { dialect, lent: options, description };
}

/** The options of the application, without what is the application's alone: entities, subscribers, caches, migrations. */
export function lentOptions(
  { dialect, lent }: LentTarget,
  common: CommonOptions,
  limits: ConnectionLimits,
): DataSourceOptions | Promise<DataSourceOptions> {
  return DIALECTS[dialect].driver.lent(lent, { ...NOTHING, poolSize: CONNECTIONS, ...common }, limits);
}

function unshareable({ type }: DataSourceOptions): LeafError {
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    `Leaf does not share a data source of type ${type}: on SQLite, where there is one writer at a time, an ID that is taken inside of a transaction would wait for the end of that transaction. Give Leaf a database of its own, for example database: 'sqlite:./data/leaf.sqlite'.`,
  );
}
