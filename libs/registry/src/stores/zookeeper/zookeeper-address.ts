import { isIP } from 'node:net';
import { LeafError } from '@leaf-ids/core';

/** Where a ZooKeeper is, as `LEAF_ZOOKEEPER` names it. */
export interface ZookeeperAddress {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** The node that stands for `/`: empty, or a path without a slash at its end. */
  readonly chroot: string;
  /** For logs and errors. */
  readonly description: string;
}

/** Who we are to ZooKeeper, as `LEAF_ZOOKEEPER_AUTH` names it. */
export interface ZookeeperAuth {
  readonly scheme: 'digest';
  /** `user:password`; a secret. */
  readonly credentials: string;
}

const DEFAULT_PORT = 2181;
const HOST_NAME = /^(?=.{1,253}$)[\w-]{1,63}(?:\.[\w-]{1,63})*\.?$/;

/**
 * Reads `host:port,host:port[/chroot]`. The port is 2181 unless named; an IPv6 address stands in brackets.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function parseZookeeperAddress(text: string): ZookeeperAddress {
  const slash = text.indexOf('/');
  const list = slash < 0 ? text : text.slice(0, slash);
  const path = slash < 0 ? '/' : text.slice(slash);
  const chroot = path === '/' ? '' : path;
  if (chroot !== '' && !isNodePath(chroot)) {
    throw invalid(`The ZooKeeper address has the chroot "${path}"; use a path as /leaf, without a slash at its end.`);
  }
  return { hosts: list.split(',').map(parseHost), chroot, description: `${list.replaceAll(' ', '')}${chroot}` };
}

/**
 * Reads `digest:user:password`.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`, without the secrets
 */
export function parseZookeeperAuth(text: string): ZookeeperAuth {
  const [, scheme, credentials] = /^([^:]*):(.*)$/s.exec(text) ?? [];
  if (
    scheme !== 'digest' ||
    credentials === undefined ||
    !/^[^:]+:./s.test(credentials) ||
    credentials.includes('\0')
  ) {
    throw invalid('The ZooKeeper authentication must be digest:user:password; no other scheme is known.');
  }
  return { scheme, credentials };
}

/** Whether ZooKeeper takes it for the full path of a node. */
export function isNodePath(path: string): boolean {
  if (path === '/') return true;
  // What ZooKeeper forbids in a name: the two ranges of control characters, surrogates, private use.
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
    throw invalid(
      `The ZooKeeper address names the host "${text.trim()}"; use host:port,host:port or the same with /chroot.`,
    );
  }
  return { host, port };
}

function invalid(message: string): LeafError {
  return new LeafError('LEAF_CONFIG_INVALID', message);
}
