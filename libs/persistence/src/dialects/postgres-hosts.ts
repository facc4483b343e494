import type { Client, ClientConfig } from 'pg';
import { LeafError, messageOf } from '@leaf-ids/core';
import type { ReadPassword } from '../connections/password';
import type { HostAddress } from './dialect';
import { POSTGRES_SESSION } from './postgres-session';

type Connect = (callback: (error: Error | null) => void) => void;

/** All hosts are down, or replicas: a failover may be under way. */
class NoWritableHost extends Error {
  /** Known to `POSTGRES_SESSION`. */
  readonly code = 'NO_WRITABLE_HOST';
}

/**
 * A client for the pools of pg, each of which connects to the one of several hosts that takes writes; pg itself knows one
 * host. The host that took them last is asked first: while two hosts take writes, which a failover must never lead to, no
 * connection strays from one to the other. Then the others are, in their order.
 *
 * A host is asked over a connection of its own, since a client of pg cannot connect twice. Should the host become a
 * replica right after that, the first write finds out.
 *
 * @param limitMs how long connecting may take, in milliseconds: shared by all hosts and the connection itself
 * @throws LeafError `LEAF_CONFIG_INVALID` when pg is not installed
 */
export async function clientAmong(
  hosts: readonly HostAddress[],
  readPassword: ReadPassword | undefined,
  limitMs: number,
): Promise<(config: ClientConfig) => Client> {
  const pg = await import('pg').catch((error: unknown) => {
    throw new LeafError('LEAF_CONFIG_INVALID', 'PostgreSQL needs the package pg: npm install pg.', { cause: error });
  });
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
    // Of a replica alone it may pass: it does not have the newest databases and users yet.
    if (lasting !== undefined) throw lasting;
    throw new NoWritableHost(`no host takes writes (${problems.join('; ')})`);
  };

  // Called with `new`: what it returns is the object.
  return function WritableClient(config: ClientConfig): Client {
    const client = new pg.Client(config);
    const connect = client.connect.bind(client) as Connect;
    const among = async (): Promise<void> => {
      // The options of a pool hide their password from a copy.
      const password = readPassword === undefined ? config.password : await readPassword();
      const host = await find({ ...config, password });
      Object.assign(client, { ...host, password });
    };
    const connectAmong: Connect = (callback) => void among().then(() => connect(callback), callback);
    return Object.assign(client, { connect: connectAmong });
  };
}

/** @throws Error when the server cannot be asked, or takes no writes */
async function assertWritable(probe: Client): Promise<void> {
  // Without a listener, a connection that breaks ends the process.
  probe.on('error', () => undefined);
  try {
    await probe.connect();
    const { rows } = await probe.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
    if (rows[0]?.transaction_read_only !== 'off') throw new Error('takes no writes');
  } finally {
    probe.end().catch(() => undefined);
  }
}
