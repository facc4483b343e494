import type { DataSource, DataSourceOptions } from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import type { ConnectionLimits } from '../connections/connection-limits';
import type { CommonOptions } from '../dialects/dialect';
import { DIALECTS } from '../dialects/dialects';
import { dialectLending, type SharedTarget } from './database-url';

/** Enough for the allocations of an application; further calls queue. */
const CONNECTIONS = 2;

/**
 * Clears the options that concern only the application. Statements of Leaf name tables without a schema, so the search
 * path decides for all of them.
 */
const NOTHING = {
  ...{ subscribers: [], synchronize: false, dropSchema: false, migrationsRun: false, cache: false },
  ...{ entityPrefix: '', schema: undefined, namingStrategy: undefined },
};

/**
 * The database of an application's data source. Leaf connects with the same options but never uses the connections of
 * the application: an allocation is never part of its transactions, and neither pool can exhaust the other.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` when the data source is not a database server
 */
export function sharedTarget({ options, driver }: DataSource): SharedTarget {
  const dialect = dialectLending(options);
  if (dialect === undefined) throw unshareable(options);
  // A URL in the options contains the name as well.
  const { database = '' } = driver;
  return { dialect, shared: options, database, description: `${options.type} database ${database} of the application` };
}

/** The options of the application without its entities, subscribers, caches and migrations. */
export function sharedOptions(
  { dialect, shared }: SharedTarget,
  common: CommonOptions,
  limits: ConnectionLimits,
): DataSourceOptions | Promise<DataSourceOptions> {
  return DIALECTS[dialect].driver.shared(shared, { ...NOTHING, poolSize: CONNECTIONS, ...common }, limits);
}

function unshareable({ type }: DataSourceOptions): LeafError {
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    `Leaf cannot share a data source of type ${type}. SQLite has one writer at a time, so an allocation during a transaction of the application would wait for its own transaction to end. Give Leaf a separate database, for example database: 'sqlite:./data/leaf.sqlite'.`,
  );
}
