import type Pg from 'pg';
import type { Client, ClientConfig } from 'pg';
import { messageOf } from '@leaf-ids/core/internal';
import type { ReadPassword } from '../../connections/password';
import type { HostAddress } from '../shared/dialect';
import { missingDriver } from '../shared/server-driver';
import { POSTGRES_SESSION } from './postgres-session';

type Connect = (callback: (error: Error | null) => void) => void;

/** All hosts are down or read-only: a failover may be in progress. */
class NoWritableHost extends Error {
  /** `POSTGRES_SESSION` has a fault for this code. */
  readonly code = 'NO_WRITABLE_HOST';
}

type PostgresDriver = Pick<typeof Pg, 'Client'>;

/**
 * Loads pg. The import is lazy, because other engines do not need the package.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` when pg is not installed
 */
export async function loadPostgres(): Promise<PostgresDriver> {
  const { default: pg } = await import('pg').catch((error: unknown) => {
    throw missingDriver('pg', 'PostgreSQL needs', error);
  });
  return pg;
}

/**
 * A client class for the pools of pg that connects to the writable one of several hosts; pg itself supports one host.
 * It probes the last writable host first, then the others in order. So if two hosts are writable by a faulty failover,
 * the pool stays on one of them.
 *
 * A probe uses a separate connection, because a pg client cannot connect twice. If the host becomes a replica after the
 * probe, the first write fails.
 *
 * @param limitMs limit for connecting, in milliseconds: divided among the probes and the connection itself
 */
export function clientAmong(
  pg: PostgresDriver,
  hosts: readonly HostAddress[],
  readPassword: ReadPassword | undefined,
  limitMs: number,
): (config: ClientConfig) => Client {
  const shareMs = Math.ceil(limitMs / (hosts.length + 1));
  let writable: HostAddress | undefined;

  const find = async (config: ClientConfig): Promise<HostAddress> => {
    const problems: string[] = [];
    let lasting: Error | undefined;
    for (const host of new Set([...(writable === undefined ? [] : [writable]), ...hosts])) {
      try {
        await assertWritable(
          new pg.Client({ ...config, ...host, connectionTimeoutMillis: shareMs, query_timeout: shareMs }),
        );
        writable = host;
        return host;
      } catch (error) {
        if (POSTGRES_SESSION.faultOf(error)?.byHand === true) lasting ??= error as Error;
        problems.push(`${host.host}:${host.port}: ${messageOf(error)}`);
      }
    }
    // Report a login error only if no host is writable: a replica may not have the newest databases and users yet.
    if (lasting !== undefined) throw lasting;
    throw new NoWritableHost(`no host is writable (${problems.join('; ')})`);
  };

  // pg calls it with `new`; the returned client becomes the result.
  return function WritableClient(config: ClientConfig): Client {
    const client = new pg.Client(config);
    const connect = client.connect.bind(client) as Connect;
    const among = async (): Promise<void> => {
      // The password of the pool options is not enumerable: a spread omits it.
      const password = readPassword === undefined ? config.password : await readPassword();
      const host = await find({ ...config, password });
      Object.assign(client, { ...host, password });
    };
    const connectAmong: Connect = (callback) => void among().then(() => connect(callback), callback);
    return Object.assign(client, { connect: connectAmong });
  };
}

/** @throws Error when the server does not respond or is read-only */
async function assertWritable(probe: Client): Promise<void> {
  // Without a listener, a broken connection would crash the process.
  probe.on('error', () => undefined);
  try {
    await probe.connect();
    const { rows } = await probe.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
    if (rows[0]?.transaction_read_only !== 'off') throw new Error('read-only');
  } finally {
    probe.end().catch(() => undefined);
  }
}
