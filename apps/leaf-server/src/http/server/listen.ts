import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { LeafError } from '@leaf-ids/core';
import { codeOf, type HostAddresses, messageOf } from '@leaf-ids/core/internal';
import { isWildcard } from '../../config/resolved';

/** Address of a port, and the settings that define it. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly settings: { readonly host: string; readonly port: string };
}

/** Connections that may wait for the process to accept them; the system lowers it to its own limit. */
export const BACKLOG = 4096;

/**
 * Listens, by `act`.
 *
 * @throws LeafError `LEAF_PORT_UNUSABLE` with what to change
 */
export async function listen<Result>(
  address: ListenAddress,
  act: () => Promise<Result>,
  addresses: HostAddresses = networkInterfaces(),
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof LeafError) throw error;
    const where = `${bracketed(address.host)}:${address.port}`;
    const message = `The server cannot listen on ${where}: ${faultOf(error, address, addresses)}`;
    throw new LeafError('LEAF_PORT_UNUSABLE', message, { cause: error });
  }
}

/** Describes why the port cannot be used, and the next step. */
function faultOf(error: unknown, { host, port, settings }: ListenAddress, addresses: HostAddresses): string {
  switch (codeOf(error) ?? '') {
    case 'EADDRINUSE':
      return `the port is in use. Stop the process that uses it, or choose another port in ${settings.port}.`;
    case 'EADDRNOTAVAIL': {
      const own = Object.values(addresses).flatMap((list) => (list ?? []).map(({ address }) => address));
      return `${host} is not an address of this host. Set ${settings.host} to one of ${own.join(', ')}, or remove it to use the default.`;
    }
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the host name cannot be resolved. Set ${settings.host} to an address of this host, or remove it to use the default.`;
    case 'EACCES':
      return `this user may not listen on port ${port}. Choose a port from 1024 upwards in ${settings.port}.`;
    default:
      return `${messageOf(error)}. Choose another address in ${settings.host} or another port in ${settings.port}.`;
  }
}

/** A URL at which this host reaches a port that listens on `host`. */
export function urlOf(host: string, port: number): string {
  return `http://${isWildcard(host) ? '127.0.0.1' : bracketed(host)}:${port}`;
}

/**
 * For the log: that URL, and what the port listens on where the URL does not say it.
 *
 * @param bound the address on which it listens
 */
export function placeOf(host: string, port: number, bound: string): string {
  const url = urlOf(host, port);
  if (isWildcard(host)) return `${url} (all ${host === '::' ? '' : 'IPv4 '}addresses of this host)`;
  return isIP(host) === 0 ? `${url} (address ${bound})` : url;
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}
