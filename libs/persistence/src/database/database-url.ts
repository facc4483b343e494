import type { DataSourceOptions } from 'typeorm';
import type { Address } from '../dialects/dialect';
import { DIALECT_NAMES, type DialectName, DIALECTS } from '../dialects/dialects';
import { invalidUrl } from '../dialects/url-parameters';

/** A database: given by its URL, or by a data source of the application. */
export type DatabaseTarget = UrlTarget | SharedTarget;

export type UrlTarget = Address & { readonly dialect: DialectName };

/** The database of an application's data source. Leaf opens its own connections with the same options. */
export interface SharedTarget {
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
export function dialectLending({ type }: DataSourceOptions): DialectName | undefined {
  return DIALECT_NAMES.find((each) => DIALECTS[each].driver.lends.includes(type));
}
