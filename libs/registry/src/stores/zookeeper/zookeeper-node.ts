import type { NativeStat } from './native-client';
import { ZookeeperFault } from './zookeeper-fault';

/** A server accepts at most 1 MiB per request, and closes the connection of a client that sends more. */
const MAX_DATA_BYTES = 1_000_000;
const MAX_VERSION = 2 ** 31 - 1;

export interface ZookeeperNode {
  readonly data: string;
  /** The version that the next write must name. */
  readonly version: number;
  /** Transaction ID that created the node: a new node at the same path has a different one. */
  readonly created: number;
  /** The session in which it was read. A ZooKeeper that was emptied does not know earlier sessions. */
  readonly session: number;
  /** Time of the last write by the server's clock, in Unix milliseconds. */
  readonly mtime: number;
  /** The session whose end removes the node; `ours` is the session of the connection that read it. */
  readonly ephemeral: 'no' | 'ours' | 'of another session';
}

/** The node that a write has changed, and its new version. */
export type WrittenNode = Pick<ZookeeperNode, 'created' | 'version'>;

export function describeNode(stat: NativeStat, data: Buffer | null, session: number): ZookeeperNode {
  const owned = stat.createdInThisSession ? 'ours' : 'of another session';
  return {
    data: data?.toString('utf8') ?? '',
    version: stat.version,
    created: stat.czxid,
    session,
    mtime: stat.mtime.getTime(),
    ephemeral: stat.ephemeralOwner === '0' ? 'no' : owned,
  };
}

export function encodeData(data: string): Buffer {
  const bytes = Buffer.from(data, 'utf8');
  if (bytes.length <= MAX_DATA_BYTES) return bytes;
  throw new ZookeeperFault(
    'invalid',
    `The data of a ZooKeeper node must have at most ${MAX_DATA_BYTES} bytes, not ${bytes.length}.`,
  );
}

/** The client converts invalid versions to 0, and -1 would match any version. */
export function requireVersion(version: number): number {
  if (Number.isInteger(version) && version >= 0 && version <= MAX_VERSION) return version;
  throw new ZookeeperFault('invalid', `${version} is not a valid version of a ZooKeeper node.`);
}
