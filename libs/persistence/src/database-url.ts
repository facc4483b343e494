import { isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import { LeafError } from '@leaf/core';

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
  | {
      readonly dialect: 'mysql' | 'postgres';
      readonly host: string;
      readonly port: number;
      readonly username: string;
      readonly password: string;
      readonly database: string;
      readonly tls: TlsMode;
      /** File with the certificates of those who may vouch for the host; undefined: those that Node.js trusts. */
      readonly rootCertificate: string | undefined;
      /** For logs and errors: no secrets. */
      readonly description: string;
    };

/** `off`; `on`: encrypted, the certificate is not looked at; `verify`: encrypted, to a host that proves its name. */
export type TlsMode = 'off' | 'on' | 'verify';

const DIALECTS = { mysql: 'mysql', mariadb: 'mysql', postgres: 'postgres', postgresql: 'postgres' } as const;
const PORTS = { mysql: 3306, postgres: 5432 } as const;
const TLS_PARAMETERS = ['sslmode', 'ssl', 'sslrootcert'];
const TLS_MODES: Readonly<Record<string, TlsMode>> = {
  disable: 'off',
  false: 'off',
  require: 'on',
  true: 'verify',
  'verify-ca': 'verify',
  'verify-full': 'verify',
};

/**
 * Reads `sqlite:<file>`, `mysql://…`, `mariadb://…` or `postgres://…`. A relative file counts from the working
 * directory. TLS is chosen by `sslmode` (`disable`, `require`, `verify-full`) or `ssl` (`true`, `false`); `sslrootcert`
 * names a file of certificates (PEM) to verify by.
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
    throw invalid(
      'must be sqlite:<file>, mysql://user:password@host:3306/database, or the same with mariadb or postgres',
    );
  }
  const database = decodeURIComponent(url.pathname.slice(1));
  if (url.hostname === '' || database === '' || database.includes('/')) {
    throw invalid(`must name a host and a database: ${scheme}://user:password@host/database`);
  }
  const port = url.port === '' ? PORTS[dialect] : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const tls = tlsMode(url.searchParams);
  if (dialect === 'mysql' && tls === 'verify' && isIP(host) !== 0) {
    throw invalid(`must have the name of the host, not its address, for sslmode=verify-full on ${scheme}`);
  }
  return {
    dialect,
    host,
    port,
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
    tls,
    rootCertificate: url.searchParams.get('sslrootcert') ?? undefined,
    description: `${scheme}://${url.hostname}:${port}/${database}`,
  };
}

function tlsMode(parameters: URLSearchParams): TlsMode {
  for (const name of parameters.keys()) {
    if (!TLS_PARAMETERS.includes(name)) {
      throw invalid(`has the parameter ${name}; only ${TLS_PARAMETERS.join(', ')} are known`);
    }
  }
  const given = parameters.get('sslmode') ?? parameters.get('ssl') ?? 'disable';
  const mode = TLS_MODES[given];
  if (parameters.has('sslrootcert') && mode !== 'verify')
    throw invalid('has sslrootcert, which needs sslmode=verify-full');
  if (mode === undefined) throw invalid('has an unknown TLS mode: use sslmode=disable, require or verify-full');
  return mode;
}

function invalid(problem: string): LeafError {
  return new LeafError('LEAF_CONFIG_INVALID', `The database URL ${problem}.`);
}
