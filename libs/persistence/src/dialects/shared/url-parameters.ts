import { isAbsolute } from 'node:path';
import { InvalidValueError } from '@leaf-ids/core/internal';
import type { ConnectionLimits } from '../../connections/connection-source';
import type { PasswordSource } from '../../connections/password';

/**
 * `off`; `on`: encrypted without verifying the certificate; `verify`: encrypted, certificate and host name verified.
 */
export type TlsMode = 'off' | 'on' | 'verify';

/** The query parameters of the URL of a database server. */
export interface UrlParameters extends PasswordSource {
  readonly tls: TlsMode;
  /** File with the trusted CA certificates; undefined: those that Node.js trusts. */
  readonly rootCertificate: string | undefined;
  /** Files with the client certificate and its key. */
  readonly clientCertificate: { readonly certificate: string; readonly key: string } | undefined;
  /** Maximum number of connections; undefined: the default. */
  readonly connections: number | undefined;
  /** Limit for connecting and for each call, in milliseconds; undefined: the default. */
  readonly timeoutMs: number | undefined;
  /** PostgreSQL: the schema of the tables; undefined: the first of the search path. */
  readonly schema: string | undefined;
  /** Absolute path of the Unix socket (PostgreSQL: of its directory), used instead of the host. */
  readonly socket: string | undefined;
  /** PostgreSQL: connect only to a writable host; implied by several hosts. */
  readonly readWrite: boolean;
}

const NAMES = [
  ...['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey', 'connections', 'timeout', 'socket'],
  ...['passwordFile', 'passwordCommand'],
];
const TLS_MODES: Readonly<Record<string, TlsMode>> = {
  disable: 'off',
  false: 'off',
  require: 'on',
  true: 'verify',
  'verify-ca': 'verify',
  'verify-full': 'verify',
};
const CONNECTIONS = { least: 1, most: 64 };
/** Limits of the parameter `timeout`, in milliseconds. */
const TIMEOUT_MS = { least: 100, most: 60_000 };

/**
 * @param own names of the parameters that only this engine has
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function readParameters(parameters: URLSearchParams, own: readonly string[]): UrlParameters {
  const names = [...NAMES, ...own];
  for (const name of parameters.keys()) {
    if (!names.includes(name)) throw invalidUrl(`has the unknown parameter ${name}; use one of ${names.join(', ')}`);
    if (parameters.get(name) === '') throw invalidUrl(`has ${name} without a value`);
  }
  const text = (name: string): string | undefined => parameters.get(name) ?? undefined;
  const tls = tlsMode(parameters);
  return {
    tls,
    rootCertificate: text('sslrootcert'),
    clientCertificate: clientCertificate(text('sslcert'), text('sslkey'), tls),
    connections: wholeNumber(parameters, 'connections', CONNECTIONS),
    timeoutMs: wholeNumber(parameters, 'timeout', TIMEOUT_MS),
    schema: text('schema'),
    socket: socketPath(text('socket'), tls),
    readWrite: readWrite(text('target_session_attrs')),
    passwordFile: text('passwordFile'),
    passwordCommand: text('passwordCommand'),
  };
}

/** The limits of the URL; those that it does not set are taken from `given`. */
export function limitsOf(target: object | UrlParameters, given: ConnectionLimits): ConnectionLimits {
  if (!('timeoutMs' in target)) return given;
  const { connections = given.connections, timeoutMs } = target;
  const times = timeoutMs === undefined ? {} : { connectMs: timeoutMs, queryMs: timeoutMs };
  return { ...given, ...times, connections };
}

export function invalidUrl(fault: string, cause?: unknown): InvalidValueError {
  return new InvalidValueError('database URL', fault, cause);
}

/** The other values that libpq supports are of no use to Leaf. */
function readWrite(attributes: string | undefined): boolean {
  if (attributes === undefined || attributes === 'read-write') return attributes !== undefined;
  throw invalidUrl('has an unsupported target_session_attrs; use read-write, because Leaf needs to write');
}

function tlsMode(parameters: URLSearchParams): TlsMode {
  const given = parameters.get('sslmode') ?? parameters.get('ssl') ?? 'disable';
  const mode = TLS_MODES[given];
  if (parameters.has('sslrootcert') && mode !== 'verify')
    throw invalidUrl('has sslrootcert, which needs sslmode=verify-full');
  if (mode === undefined) throw invalidUrl('has an unknown TLS mode: use sslmode=disable, require or verify-full');
  return mode;
}

function clientCertificate(
  certificate: string | undefined,
  key: string | undefined,
  tls: TlsMode,
): UrlParameters['clientCertificate'] {
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) throw invalidUrl('has only one of sslcert and sslkey; set both');
  if (tls === 'off') throw invalidUrl('has sslcert, which needs sslmode=verify-full or require');
  return { certificate, key };
}

function wholeNumber(
  parameters: URLSearchParams,
  name: string,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  const text = parameters.get(name);
  if (text === null) return undefined;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (number >= least && number <= most) return number;
  throw invalidUrl(`has an invalid ${name}; use a whole number from ${least} to ${most}`);
}

function socketPath(socket: string | undefined, tls: TlsMode): string | undefined {
  if (socket === undefined) return undefined;
  if (!isAbsolute(socket)) throw invalidUrl('has a relative path as socket; use an absolute path');
  if (tls !== 'off') throw invalidUrl('has both socket and sslmode; sockets do not use TLS, so remove sslmode');
  return socket;
}
