import type { DataSourceOptions, DataSource } from 'typeorm';
import type { Address, CommonOptions } from '../dialects/shared/dialect';
import { DIALECT_NAMES, type DialectName, DIALECTS } from '../dialects/dialects';
import { invalidUrl } from '../dialects/shared/url-parameters';
import { LeafError } from '@leaf-ids/core';
import type { ConnectionLimits } from '../connections/connection-source';

/** A database: given by its URL, or by a data source of the application. */
export type DatabaseTarget = UrlTarget | SharedTarget;

export type UrlTarget = Address & { readonly dialect: DialectName };

/** The database of an application's data source. Leaf opens its own connections with the same options. */
interface SharedTarget {
  readonly dialect: DialectName;
  readonly shared: DataSourceOptions;
  /** Its name on the server. */
  readonly database: string;
  /** For logs and errors: no secrets. */
  readonly description: string;
}

/**
 * Parses `sqlite:<file>`, `mysql://…`, `mariadb://…` or `postgres://…`. A relative file is resolved against the working
 * directory. For the query parameters of a server URL, see `UrlParameters` and docs/configuration.md.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`, without the URL's secrets
 */
export function parseDatabaseUrl(url: string): UrlTarget {
  const scheme = url.slice(0, Math.max(0, url.indexOf(':'))).toLowerCase();
  const name = DIALECT_NAMES.find((each) => DIALECTS[each].schemes.includes(scheme));
  if (name !== undefined) return { dialect: name, ...DIALECTS[name].parse(url) };
  throw invalidUrl(`must be ${DIALECT_NAMES.map((each) => DIALECTS[each].example).join(', or ')}`);
}

/** @returns the dialect for a data source of an application; undefined when Leaf cannot share that type */
function dialectLending({ type }: DataSourceOptions): DialectName | undefined {
  return DIALECT_NAMES.find((each) => DIALECTS[each].driver.lends.includes(type));
}

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
