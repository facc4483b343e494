import type { DataSourceOptions } from 'typeorm';
import type { Address } from '../dialects/dialect';
import { DIALECT_NAMES, type DialectName, DIALECTS } from '../dialects/dialects';
import { invalidUrl } from '../dialects/url-parameters';

/** A database, as its URL names it, or as an application has opened it. */
export type DatabaseTarget = UrlTarget | LentTarget;

export type UrlTarget = Address & { readonly dialect: DialectName };

/** A database that is connected to as the data source of an application is, by connections of our own. */
export interface LentTarget {
  readonly dialect: DialectName;
  readonly lent: DataSourceOptions;
  /** For logs and errors: no secrets. */
  readonly description: string;
}

/**
 * Reads `sqlite:<file>`, `mysql://…`, `mariadb://…` or `postgres://…`. A relative file counts from the working
 * directory. What may stand behind the question mark of a server's URL: `UrlParameters` and docs/configuration.md.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`, without the URL's secrets
 */
export function parseDatabaseUrl(url: string): UrlTarget {
  const scheme = url.slice(0, Math.max(0, url.indexOf(':'))).toLowerCase();
  const name = DIALECT_NAMES.find((each) => DIALECTS[each].schemes.includes(scheme));
  if (name !== undefined) return { dialect: name, ...DIALECTS[name].parse(url) };
  throw invalidUrl(`must be ${DIALECT_NAMES.map((each) => DIALECTS[each].example).join(', or ')}`);
}

/** @returns the kind of database of a data source that Leaf can connect like; undefined for one that it cannot */
export function dialectLending({ type }: DataSourceOptions): DialectName | undefined {
  return DIALECT_NAMES.find((each) => DIALECTS[each].driver.lends.includes(type));
}
