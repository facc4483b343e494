import type { NativeStat } from './native-client';
import { ZookeeperFault } from './zookeeper-fault';

/** A server takes at most 1 MiB a request, and drops the connection of whoever sends more. */
const MAX_DATA_BYTES = 1_000_000;
const MAX_VERSION = 2 ** 31 - 1;

export interface ZookeeperNode {
  readonly data: string;
  /** What the next write has to name. */
  readonly version: number;
  /** Number of the change that made the node: another node at the same path has another one. */
  readonly created: number;
  /** The session of ours that has read it. A server that was emptied knows no earlier session. */
  readonly session: number;
  /** When it was written last, by the server's clock, in Unix milliseconds. */
  readonly mtime: number;
  /** Whose end removes the node; `ours` is the session of the connection that read it. */
  readonly ephemeral: 'no' | 'ours' | 'of another session';
}

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
  throw new ZookeeperFault('invalid', `A ZooKeeper node takes at most ${MAX_DATA_BYTES} bytes, not ${bytes.length}.`);
}

/** The client makes 0 of what is no version, and -1 would match every one. */
export function requireVersion(version: number): number {
  if (Number.isInteger(version) && version >= 0 && version <= MAX_VERSION) return version;
  throw new ZookeeperFault('invalid', `${version} is no version of a ZooKeeper node.`);
}
