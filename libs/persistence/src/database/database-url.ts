import { isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import { invalidUrl, readParameters, type UrlParameters } from '../dialects/url-parameters';

/** A database, as its URL names it, or as an application has opened it. */
export type DatabaseTarget = UrlTarget | LentTarget;

/** A database that is connected to as the data source of an application is, by connections of our own. */
export interface LentTarget {
  readonly dialect: 'mysql' | 'postgres';
  readonly lent: DataSourceOptions;
  /** For logs and errors: no secrets. */
  readonly description: string;
}

export type UrlTarget =
  | {
      readonly dialect: 'sqlite';
      /** Absolute path of the database file. */
      readonly file: string;
      /** For logs and errors: no secrets. */
      readonly description: string;
    }
  | ServerTarget;

/** A database server. */
export interface ServerTarget extends UrlParameters {
  readonly dialect: 'mysql' | 'postgres';
  readonly host: string;
  readonly port: number;
  readonly username: string;
  /** Empty where a file has it. */
  readonly password: string;
  readonly database: string;
  /** For logs and errors: no secrets. */
  readonly description: string;
}

const DIALECTS = { mysql: 'mysql', mariadb: 'mysql', postgres: 'postgres', postgresql: 'postgres' } as const;
const PORTS = { mysql: 3306, postgres: 5432 } as const;

/**
 * Reads `sqlite:<file>`, `mysql://…`, `mariadb://…` or `postgres://…`. A relative file counts from the working
 * directory. What may stand behind the question mark of a server's URL: {@link UrlParameters} and docs/configuration.md.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`, without the URL's secrets
 */
export function parseDatabaseUrl(url: string): UrlTarget {
  const file = /^sqlite:(?:\/\/(?=\/))?([^:].*)$/.exec(url)?.[1];
  if (file !== undefined) {
    const path = isAbsolute(file) ? file : resolve(file);
    return { dialect: 'sqlite', file: path, description: `sqlite:${path}` };
  }
  return parseServerUrl(url);
}

function parseServerUrl(text: string): UrlTarget {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const scheme = url?.protocol.slice(0, -1) ?? '';
  const dialect = Object.entries(DIALECTS).find(([name]) => name === scheme)?.[1];
  if (url === undefined || dialect === undefined) {
    throw invalidUrl(
      'must be sqlite:<file>, mysql://user:password@host:3306/database, or the same with mariadb or postgres',
    );
  }
  const database = decodeURIComponent(url.pathname.slice(1));
  if (url.hostname === '' || database === '' || database.includes('/')) {
    throw invalidUrl(`must name a host and a database: ${scheme}://user:password@host/database`);
  }
  const port = url.port === '' ? PORTS[dialect] : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const parameters = readParameters(url.searchParams, dialect);
  if (dialect === 'mysql' && parameters.tls === 'verify' && isIP(host) !== 0) {
    throw invalidUrl(`must have the name of the host, not its address, for sslmode=verify-full on ${scheme}`);
  }
  if (parameters.passwordFile !== undefined && url.password !== '') {
    throw invalidUrl('has a password and passwordFile; leave out one of them');
  }
  return {
    dialect,
    host,
    port,
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
    ...parameters,
    description: describe(`${scheme}://${url.hostname}:${port}/${database}`, parameters),
  };
}

/** With what tells two databases of one server apart. */
function describe(address: string, { schema, socket }: UrlParameters): string {
  const parts = Object.entries({ schema, socket }).filter(([, value]) => value !== undefined);
  const text = parts.map(([name, value]) => `${name}=${value}`).join('&');
  return text === '' ? address : `${address}?${text}`;
}
