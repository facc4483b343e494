import { isAbsolute } from 'node:path';
import { LeafError } from '@leaf-ids/core';
import type { ConnectionLimits } from '../connections/connection-limits';
import type { PasswordSource } from '../connections/password';

/** `off`; `on`: encrypted, the certificate is not looked at; `verify`: encrypted, to a host that proves its name. */
export type TlsMode = 'off' | 'on' | 'verify';

/** What the URL of a database server says after its question mark. */
export interface UrlParameters extends PasswordSource {
  readonly tls: TlsMode;
  /** File with the certificates of those who may vouch for the host; undefined: those that Node.js trusts. */
  readonly rootCertificate: string | undefined;
  /** Files with the certificate and the key by which Leaf proves who it is. */
  readonly clientCertificate: { readonly certificate: string; readonly key: string } | undefined;
  /** Connections at most; undefined: the default. */
  readonly connections: number | undefined;
  /** How long connecting and each call may take, in milliseconds; undefined: the default. */
  readonly timeoutMs: number | undefined;
  /** PostgreSQL: the schema of the tables; undefined: the first of the search path. */
  readonly schema: string | undefined;
  /** Absolute path of the Unix socket, for PostgreSQL of its directory, to connect to in place of the host. */
  readonly socket: string | undefined;
  /** PostgreSQL: each connection is to a host that takes writes; always with several hosts. */
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
const TIMEOUT_MS = { least: 100, most: 60_000 };

/**
 * @param own names that only this kind of server knows
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function readParameters(parameters: URLSearchParams, own: readonly string[]): UrlParameters {
  const names = [...NAMES, ...own];
  for (const name of parameters.keys()) {
    if (!names.includes(name)) throw invalidUrl(`has the parameter ${name}; only ${names.join(', ')} are known`);
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

/** What the URL of a database says goes before the limits that are given. */
export function limitsOf(target: object | UrlParameters, given: ConnectionLimits): ConnectionLimits {
  if (!('timeoutMs' in target)) return given;
  const { connections = given.connections, timeoutMs } = target;
  const times = timeoutMs === undefined ? {} : { connectMs: timeoutMs, queryMs: timeoutMs };
  return { ...given, ...times, connections };
}

export function invalidUrl(problem: string): LeafError {
  return new LeafError('LEAF_CONFIG_INVALID', `The database URL ${problem}.`);
}

/** Of the other values that PostgreSQL's own clients know, Leaf has no use for any. */
function readWrite(attributes: string | undefined): boolean {
  if (attributes === undefined || attributes === 'read-write') return attributes !== undefined;
  throw invalidUrl('has target_session_attrs, which must be read-write: Leaf writes');
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
  if (certificate === undefined || key === undefined)
    throw invalidUrl('has one of sslcert and sslkey; each needs the other');
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
  throw invalidUrl(`has ${name}, which must be a whole number from ${least} to ${most}`);
}

function socketPath(socket: string | undefined, tls: TlsMode): string | undefined {
  if (socket === undefined) return undefined;
  if (!isAbsolute(socket)) throw invalidUrl('has socket, which must be an absolute path');
  if (tls !== 'off') throw invalidUrl('has socket, over which there is no TLS: leave out sslmode');
  return socket;
}
