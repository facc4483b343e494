import { type Clock, LeafError, messageOf, type RandomSource, withinDeadline } from '@leaf-ids/core';
import type { CREATE_FLAGS } from './native-client';
import { isNodePath } from './zookeeper-address';
import type { ZookeeperConnection } from './zookeeper-connection';
import { NativeFailure, NO_NODE, NODE_EXISTS, ZookeeperFault, type ZookeeperFaultKind } from './zookeeper-fault';
import { ZookeeperLink, type ZookeeperLinkOptions } from './zookeeper-link';
import { describeNode, encodeData, requireVersion, type ZookeeperNode } from './zookeeper-node';

export interface ZookeeperSessionOptions extends ZookeeperLinkOptions {
  /** How long the answer to one call may take once there is a connection, in milliseconds. */
  readonly callMs: number;
}

export interface ZookeeperSnapshot {
  /** As far as anybody has noticed: no proof, and never a reason to issue an ID. */
  readonly connected: boolean;
  /** How many sessions there have been: a change means that the ephemeral nodes are gone, or will be. */
  readonly generation: number;
  /** Of the last call, when it failed for want of a server, a connection or a right. */
  readonly lastFault: { readonly kind: ZookeeperFaultKind; readonly message: string } | undefined;
}

/** Answers to the question; any other fault is one of the connection or of the rights. */
const ANSWERS: readonly ZookeeperFaultKind[] = ['no-node', 'node-exists', 'bad-version', 'invalid', 'other-session'];

/**
 * ZooKeeper, as far as the registries need it: no watches, no write without a version.
 *
 * The first call connects, and each call after a loss connects again. The session and its ephemeral nodes survive when
 * that happens within `sessionMs`; otherwise the next call begins a new session, of the next generation. A server that
 * ends is left at once, one that falls silent after two thirds of `sessionMs`. Another one may lag behind: only a write
 * with its version tells whether a read was up to date.
 *
 * A call takes at most `connectMs` and then `callMs`, and fails with a {@link ZookeeperFault}; nothing is tried twice.
 * What was sent and not answered in time may still be carried out later.
 *
 * Paths count from the chroot, which is made by `ensurePath`, as every part of a path.
 *
 * With `auth`, whatever is made here belongs to these credentials alone. The client can only make a node that is open to
 * everybody, and close it in a second step: for about a round trip, whoever reaches the servers can read, write, remove
 * or take over the new node, and one whose maker failed in between (`denied`, `unknown-outcome`) stays open. Where that
 * matters, the network has to keep strangers from the servers.
 *
 * The client runs in a child process, for the reason given at {@link ZookeeperConnection}.
 */
export class ZookeeperSession {
  private readonly link: ZookeeperLink;
  private readonly chroot: string;
  private lastFault: ZookeeperSnapshot['lastFault'];

  /** Has no effect: nothing is connected, loaded or looked up before the first call. */
  constructor(
    private readonly options: ZookeeperSessionOptions,
    private readonly clock: Clock,
    random: RandomSource,
  ) {
    this.link = new ZookeeperLink(options, clock, random);
    this.chroot = options.address.chroot;
  }

  /** Undefined when there is no such node. */
  getData(path: string): Promise<ZookeeperNode | undefined> {
    return this.call('read', path, async (connection, node, session) => {
      const found = await unless(NO_NODE, connection.get(node));
      return found && describeNode(...found, session);
    });
  }

  /**
   * @param session when given, nothing is sent in another one: versions of an emptied ZooKeeper start again at 0
   * @returns the new version
   */
  setData(path: string, data: string, version: number, session?: number): Promise<number> {
    const set = async (connection: ZookeeperConnection, node: string): Promise<number> => {
      const [{ version: written }] = await connection.set(node, encodeData(data), requireVersion(version));
      return written;
    };
    return this.call('write', path, set, session);
  }

  /**
   * @param session when given, nothing is sent in another one
   * @returns the path of the new node; of a sequential one, with the ten digits that the server has added
   */
  create(path: string, data: string, kind: keyof typeof CREATE_FLAGS, session?: number): Promise<string> {
    const create = async (connection: ZookeeperConnection, node: string): Promise<string> => {
      const [created] = await connection.create(node, encodeData(data), kind);
      await this.protect(connection, created);
      return created.slice(this.chroot.length);
    };
    return this.call('create', path, create, session);
  }

  /** The names of the children, in no order. */
  children(path: string): Promise<string[]> {
    return this.call('list', path, async (connection, node) => {
      const [names] = await connection.children(node);
      return names;
    });
  }

  remove(path: string, version: number): Promise<void> {
    return this.call('remove', path, async (connection, node) => {
      await connection.remove(node, requireVersion(version));
    });
  }

  /** Makes the node and those above it, without data, as far as they are missing. */
  ensurePath(path: string): Promise<void> {
    return this.call('make', path, async (connection, node) => {
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
   * Final: pending and later calls fail. While connected, it ends the session at the server, and with it the ephemeral
   * nodes; otherwise they last until the session times out. Takes about 2 s when the server does not answer.
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
          this.explain(action, path, `no answer in ${this.options.callMs} ms`),
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

  /** @throws ZookeeperFault never with a kind that says that nothing was made */
  private async protect(connection: ZookeeperConnection, node: string): Promise<void> {
    if (this.options.auth === undefined) return;
    try {
      await connection.protect(node);
    } catch (error) {
      if (!(error instanceof NativeFailure)) throw error;
      const kind = error.kind === 'unreachable' || error.kind === 'unknown-outcome' ? 'unknown-outcome' : 'denied';
      throw new ZookeeperFault(
        kind,
        `ZooKeeper ${this.options.address.description} made ${node}, but its access list could not be set: ${messageOf(error)}. Look at the node, and remove it or set its list.`,
      );
    }
  }

  private nodeOf(path: string): string {
    if (!isNodePath(path)) throw new ZookeeperFault('invalid', `ZooKeeper does not take the path "${path}".`);
    return path === '/' && this.chroot !== '' ? this.chroot : `${this.chroot}${path}`;
  }

  private explain(action: string, path: string, problem: string): string {
    return `ZooKeeper ${this.options.address.description} did not ${action} ${path}: ${problem}.`;
  }
}

/** Undefined instead of that one failure. */
async function unless<T>(code: number, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof NativeFailure && error.code === code) return undefined;
    throw error;
  }
}
