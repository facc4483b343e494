import { type Clock, LeafError, type RandomSource } from '@leaf-ids/core';
import { messageOf, withinDeadline } from '@leaf-ids/core/internal';
import type { CREATE_FLAGS, NativeStat } from './native-client';
import { isNodePath } from './zookeeper-address';
import type { ZookeeperConnection } from './zookeeper-connection';
import { NativeFailure, NO_NODE, NODE_EXISTS, ZookeeperFault, type ZookeeperFaultKind } from './zookeeper-fault';
import { ZookeeperLink, type ZookeeperLinkOptions } from './zookeeper-link';

export interface ZookeeperSessionOptions extends ZookeeperLinkOptions {
  /** Time limit for the response to a call on an open connection, in milliseconds. */
  readonly callMs: number;
}

export interface ZookeeperSnapshot {
  /** Last known state. It proves nothing and must not be used to decide whether to issue an ID. */
  readonly connected: boolean;
  /** Number of sessions so far. A change means that the ephemeral nodes of earlier sessions are removed now or soon. */
  readonly generation: number;
  /** The fault of the last call, if it failed because of the connection or of permissions. */
  readonly lastFault: { readonly kind: ZookeeperFaultKind; readonly message: string } | undefined;
}

/** Faults that are a valid response. All others concern the connection or permissions. */
const ANSWERS: readonly ZookeeperFaultKind[] = ['no-node', 'node-exists', 'bad-version', 'invalid', 'other-session'];

/**
 * The subset of ZooKeeper that the registries need, without watches and without writes that ignore the version. It runs
 * in a child process: {@link ZookeeperConnection}. Paths are relative to the chroot, which `ensurePath` creates.
 *
 * The first call connects, and the first call after a lost connection reconnects; after `sessionMs` it starts a new
 * session with the next generation. A call takes at most `connectMs` plus `callMs`, fails with a {@link ZookeeperFault},
 * and is not retried; a request that times out may still be executed. Reads may lack later writes of others: only a
 * write with its version shows whether a read was current.
 *
 * With `auth`, a node is created open and restricted in a second step: for about one round trip, or if that fails
 * (`denied`, `unknown-outcome`), any client that reaches the servers can take it over. Restrict network access.
 */
export class ZookeeperSession {
  private readonly link: ZookeeperLink;
  private readonly chroot: string;
  private lastFault: ZookeeperSnapshot['lastFault'];

  /** Has no side effects: the first call loads the client, resolves names and connects. */
  constructor(
    private readonly options: ZookeeperSessionOptions,
    private readonly clock: Clock,
    random: RandomSource,
  ) {
    this.link = new ZookeeperLink(options, clock, random);
    this.chroot = options.address.chroot;
  }

  /** Reads a node; undefined if it does not exist. */
  getData(path: string): Promise<ZookeeperNode | undefined> {
    return this.call('read', path, async (connection, node, session) => {
      const found = await unless(NO_NODE, connection.get(node));
      return found && describeNode(...found, session);
    });
  }

  /**
   * @param session if given, the request is sent only in this session: in an emptied ZooKeeper, versions start again at
   *   0
   * @returns the node that was written: one that was created again may have the version of an earlier one
   */
  setData(path: string, data: string, version: number, session?: number): Promise<WrittenNode> {
    const set = async (connection: ZookeeperConnection, node: string): Promise<WrittenNode> => {
      const [stat] = await connection.set(node, encodeData(data), requireVersion(version));
      return { created: stat.czxid, version: stat.version };
    };
    return this.call('write', path, set, session);
  }

  /**
   * @param session if given, the request is sent only in this session
   * @returns the path of the new node; for a sequential node, with the ten digits that the server appended
   */
  create(path: string, data: string, kind: keyof typeof CREATE_FLAGS, session?: number): Promise<string> {
    const create = async (connection: ZookeeperConnection, node: string): Promise<string> => {
      const [created] = await connection.create(node, encodeData(data), kind);
      await this.protect(connection, created);
      return created.slice(this.chroot.length);
    };
    return this.call('create', path, create, session);
  }

  /** The names of the children, in no particular order. */
  children(path: string): Promise<string[]> {
    return this.call('list', path, async (connection, node) => {
      const [names] = await connection.children(node);
      return names;
    });
  }

  /** Changes when a child is created or removed, or the session; undefined if the node does not exist. */
  childrenVersion(path: string): Promise<string | undefined> {
    return this.call('read', path, async (connection, node, session) => {
      const [stat] = (await unless(NO_NODE, connection.exists(node))) ?? [];
      return stat && `${session}/${stat.czxid}/${stat.cversion}`;
    });
  }

  remove(path: string, version: number): Promise<void> {
    return this.call('remove', path, async (connection, node) => {
      await connection.remove(node, requireVersion(version));
    });
  }

  /** Creates the node and its missing parents, without data. */
  ensurePath(path: string): Promise<void> {
    return this.call('create', path, async (connection, node) => {
      if ((await unless(NO_NODE, connection.exists(node))) !== undefined) return;
      let end = 0;
      do {
        end = node.indexOf('/', end + 1);
        const part = end < 0 ? node : node.slice(0, end);
        if ((await unless(NO_NODE, connection.exists(part))) === undefined) {
          const made = await unless(NODE_EXISTS, connection.create(part, encodeData(''), 'persistent'));
          if (made !== undefined) await this.protect(connection, part);
        }
      } while (end >= 0);
    });
  }

  snapshot(): ZookeeperSnapshot {
    const { connected, generation } = this.link;
    return { connected, generation, lastFault: this.lastFault };
  }

  /**
   * Final: pending and later calls fail. If connected, ends the session at the server and removes its ephemeral nodes;
   * otherwise they remain until the session times out. Takes about 2 s if the server does not respond.
   */
  close(): Promise<void> {
    return this.link.close();
  }

  private async call<T>(
    action: string,
    path: string,
    act: (connection: ZookeeperConnection, node: string, session: number) => Promise<T>,
    session?: number,
  ): Promise<T> {
    try {
      const node = this.nodeOf(path);
      const { connection, generation } = await this.link.use();
      if (session !== undefined && session !== generation) {
        throw new ZookeeperFault('other-session', this.explain(action, path, 'the session has ended'));
      }
      const answer = act(connection, node, generation);
      const deadline = this.clock.monotonic() + this.options.callMs;
      if (!(await withinDeadline(answer, deadline, this.clock))) {
        void connection.check();
        throw new ZookeeperFault(
          'unknown-outcome',
          this.explain(action, path, `no response within ${this.options.callMs} ms`),
        );
      }
      this.lastFault = undefined;
      return await answer;
    } catch (error) {
      if (error instanceof LeafError) throw error;
      const fault =
        error instanceof NativeFailure
          ? new ZookeeperFault(error.kind, this.explain(action, path, messageOf(error)))
          : error;
      if (fault instanceof ZookeeperFault) {
        const { kind, message } = fault;
        this.lastFault = ANSWERS.includes(kind) ? undefined : { kind, message };
      }
      throw fault;
    }
  }

  /** @throws ZookeeperFault `denied` or `unknown-outcome`: the node may exist */
  private async protect(connection: ZookeeperConnection, node: string): Promise<void> {
    if (this.options.auth === undefined) return;
    try {
      await connection.protect(node);
    } catch (error) {
      if (!(error instanceof NativeFailure)) throw error;
      const kind = error.kind === 'unreachable' || error.kind === 'unknown-outcome' ? 'unknown-outcome' : 'denied';
      throw new ZookeeperFault(
        kind,
        `ZooKeeper ${this.options.address.description} created ${node}, but its access list could not be set: ${messageOf(error)}. Remove the node, or set its access list.`,
      );
    }
  }

  private nodeOf(path: string): string {
    if (!isNodePath(path)) throw new ZookeeperFault('invalid', `"${path}" is not a valid ZooKeeper path.`);
    return path === '/' && this.chroot !== '' ? this.chroot : `${this.chroot}${path}`;
  }

  private explain(action: string, path: string, problem: string): string {
    return `ZooKeeper ${this.options.address.description} did not ${action} ${path}: ${problem}.`;
  }
}

/** The calls of a session, for a stand-in. */
export type ZookeeperCalls = Pick<ZookeeperSession, keyof ZookeeperSession>;

/** Resolves with undefined if `answer` fails with `code`. */
async function unless<T>(code: number, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof NativeFailure && error.code === code) return undefined;
    throw error;
  }
}

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

function describeNode(stat: NativeStat, data: Buffer | null, session: number): ZookeeperNode {
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

function encodeData(data: string): Buffer {
  const bytes = Buffer.from(data, 'utf8');
  if (bytes.length <= MAX_DATA_BYTES) return bytes;
  throw new ZookeeperFault(
    'invalid',
    `The data of a ZooKeeper node must have at most ${MAX_DATA_BYTES} bytes, not ${bytes.length}.`,
  );
}

/** The client converts invalid versions to 0, and -1 would match any version. */
function requireVersion(version: number): number {
  if (Number.isInteger(version) && version >= 0 && version <= MAX_VERSION) return version;
  throw new ZookeeperFault('invalid', `${version} is not a valid version of a ZooKeeper node.`);
}
