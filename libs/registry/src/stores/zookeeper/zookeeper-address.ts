import { isIP } from 'node:net';
import { lookup } from 'node:dns/promises';
import type { RandomSource } from '@leaf-ids/core';
import { InvalidValueError, messageOf } from '@leaf-ids/core/internal';
import { ZookeeperFault } from './zookeeper-fault';

/** The address of a ZooKeeper ensemble. */
export interface ZookeeperAddress {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** The node that is used as `/`: empty, or a path without a trailing slash. */
  readonly chroot: string;
  /** Text for logs and errors. */
  readonly description: string;
}

/** The credentials for ZooKeeper. */
export interface ZookeeperAuth {
  readonly scheme: 'digest';
  /** `user:password`; a secret. */
  readonly credentials: string;
}

const DEFAULT_PORT = 2181;
const HOST_NAME = /^(?=.{1,253}$)[\w-]{1,63}(?:\.[\w-]{1,63})*\.?$/;

/**
 * Parses `host:port,host:port[/chroot]`. The port defaults to 2181; an IPv6 address must be in brackets.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function parseZookeeperAddress(text: string): ZookeeperAddress {
  const slash = text.indexOf('/');
  const list = slash < 0 ? text : text.slice(0, slash);
  const path = slash < 0 ? '/' : text.slice(slash);
  const chroot = path === '/' ? '' : path;
  if (chroot !== '' && !isNodePath(chroot)) {
    throw invalid(`has an invalid chroot "${path}"; use a path such as /leaf, without a trailing slash`);
  }
  return { hosts: list.split(',').map(parseHost), chroot, description: `${list.replaceAll(' ', '')}${chroot}` };
}

/**
 * Parses `digest:user:password`.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`; the message does not contain the credentials
 */
export function parseZookeeperAuth(text: string): ZookeeperAuth {
  const [, scheme, credentials] = /^([^:]*):(.*)$/s.exec(text) ?? [];
  if (
    scheme !== 'digest' ||
    credentials === undefined ||
    !/^[^:]+:./s.test(credentials) ||
    credentials.includes('\0')
  ) {
    throw new InvalidValueError(
      'ZooKeeper authentication',
      'must be digest:user:password; other schemes are not supported',
    );
  }
  return { scheme, credentials };
}

/** Whether `path` is a valid absolute path of a node. */
export function isNodePath(path: string): boolean {
  if (path === '/') return true;
  // ZooKeeper forbids control characters, surrogates and private-use characters in names.
  if (!path.startsWith('/') || /[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]/.test(path)) return false;
  return path
    .slice(1)
    .split('/')
    .every((name) => name !== '' && name !== '.' && name !== '..');
}

function parseHost(text: string): ZookeeperAddress['hosts'][number] {
  const [, bracketed, plain, given] = /^\s*(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?\s*$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? '';
  const port = given === undefined ? DEFAULT_PORT : Number(given);
  const named = bracketed === undefined ? HOST_NAME.test(host) : isIP(bracketed) === 6;
  if (!named || port < 1 || port > 65_535) {
    throw invalid(`has an invalid host "${text.trim()}"; use host:port,host:port, optionally with /chroot at the end`);
  }
  return { host, port };
}

function invalid(fault: string): InvalidValueError {
  return new InvalidValueError('ZooKeeper address', fault);
}

/**
 * Resolves the servers to `ip:port`, in random order, so that clients spread over the servers. Skips names that cannot
 * be resolved.
 *
 * @throws ZookeeperFault `unreachable` when no name can be resolved
 */
export async function findEndpoints(address: ZookeeperAddress, random: RandomSource): Promise<string[]> {
  const problems: string[] = [];
  const found = await Promise.all(
    address.hosts.map(async ({ host, port }) => {
      try {
        const places = isIP(host) > 0 ? [{ address: host }] : await lookup(host, { all: true });
        return places.map((place) => `${place.address}:${port}`);
      } catch (error) {
        problems.push(messageOf(error));
        return [];
      }
    }),
  );
  const endpoints = [...new Set(found.flat())];
  if (endpoints.length === 0) {
    throw new ZookeeperFault(
      'unreachable',
      `Cannot resolve any host of ${address.description}: ${problems.join('; ')}. Check the option snowflake.registry.zookeeper.address and DNS.`,
    );
  }
  for (let last = endpoints.length - 1; last > 0; last--) {
    const other = random(last + 1);
    [endpoints[last], endpoints[other]] = [endpoints[other] ?? '', endpoints[last] ?? ''];
  }
  return endpoints;
}
