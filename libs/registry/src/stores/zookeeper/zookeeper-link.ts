import { type Clock, LeafError, messageOf, type RandomSource, withinDeadline } from '@leaf-ids/core';
import { findEndpoints } from './endpoints';
import { locateNativeClient, type SessionIdentity } from './native-client';
import type { ZookeeperAddress, ZookeeperAuth } from './zookeeper-address';
import { ZookeeperConnection } from './zookeeper-connection';
import { NativeFailure, SESSION_EXPIRED, ZookeeperFault } from './zookeeper-fault';

/** After a first round through all servers in vain; doubles with each. Every attempt starts a process. */
const PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** For the start of a process, on a machine that has no processor to spare. */
const START_MS = 30_000;

export interface ZookeeperLinkOptions {
  readonly address: ZookeeperAddress;
  readonly auth?: ZookeeperAuth;
  /** How long one call may wait for a connection, in milliseconds. */
  readonly connectMs: number;
  /**
   * After how long without a connection the server ends the session, in milliseconds. The server may give less, or
   * more: as a rule between 2 and 20 of its ticks of 2 s.
   */
  readonly sessionMs: number;
}

export interface OpenLink {
  readonly connection: ZookeeperConnection;
  /** Number of the session that the connection belongs to. */
  readonly generation: number;
}

/**
 * Keeps one connection to one of the servers, made when it is needed, and the session that goes from one to the next.
 *
 * During an outage, rounds through all servers go on in the background as long as calls come, at growing intervals of at
 * most {@link LONGEST_PAUSE_MS}: a call that comes later than that after the return of the servers finds a connection.
 */
export class ZookeeperLink {
  /** The newest, which may not be open yet. */
  private connection: ZookeeperConnection | undefined;
  private link: OpenLink | undefined;
  private opening: Promise<OpenLink> | undefined;
  private session: SessionIdentity | undefined;
  private sessions = 0;
  /** Until when somebody may be interested in a connection, by the monotonic clock. */
  private wantedUntil = 0;
  /** Why there is no connection yet. */
  private problem = '';
  private readonly stopping = new AbortController();

  constructor(
    private readonly options: ZookeeperLinkOptions,
    private readonly clock: Clock,
    private readonly random: RandomSource,
  ) {}

  get connected(): boolean {
    return this.link?.connection.usable === true;
  }

  /** How many sessions there have been. */
  get generation(): number {
    return this.sessions;
  }

  /**
   * @throws ZookeeperFault `unreachable` or `denied`
   * @throws LeafError `LEAF_CONFIG_INVALID` when the client package is missing
   */
  async use(): Promise<OpenLink> {
    if (this.link?.connection.usable === true) return this.link;
    this.refuseWhenClosed();
    const deadline = this.clock.monotonic() + this.options.connectMs;
    this.wantedUntil = deadline + LONGEST_PAUSE_MS;
    this.opening ??= this.open().finally(() => (this.opening = undefined));
    const { opening } = this;
    // Whoever gives up leaves it under way for the next call.
    opening.catch(() => undefined);
    if (await withinDeadline(opening, deadline, this.clock)) return opening;
    throw this.unreachable(this.problem);
  }

  /** Resolves when nothing of it is left on this machine. */
  async close(): Promise<void> {
    this.stopping.abort();
    await this.connection?.end();
  }

  private async open(): Promise<OpenLink> {
    const { address, connectMs } = this.options;
    this.problem = 'the name service is silent';
    const path = locateNativeClient();
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const looking = findEndpoints(address, this.random);
      const endpoints = await this.inTime(looking, this.clock.monotonic() + connectMs, 'the name service is silent');
      for (const endpoint of endpoints) {
        this.refuseWhenClosed();
        const link = await this.connectTo(endpoint, path, connectMs / endpoints.length);
        if (link !== undefined) return link;
      }
      if (this.clock.monotonic() >= this.wantedUntil) throw this.unreachable(this.problem);
      // Servers that lose ZooKeeper at one moment do not come back at one moment.
      await this.clock.sleep(pauseMs - this.random(pauseMs / 4), this.stopping.signal);
    }
  }

  /**
   * @returns undefined when another server, or another time, may do better
   * @throws NativeFailure or LeafError for what no other server will do better
   */
  private async connectTo(endpoint: string, path: string, limitMs: number): Promise<OpenLink | undefined> {
    const { auth, sessionMs } = this.options;
    const connection = new ZookeeperConnection({ path, endpoint, sessionMs, auth, resume: this.session }, this.clock);
    this.connection?.abandon();
    this.connection = connection;
    this.problem = `${endpoint}: no answer`;
    try {
      await this.inTime(connection.start(), this.clock.monotonic() + START_MS, 'its process does not start');
      // How long that takes says nothing of the server.
      this.adopt(await this.inTime(connection.open(), this.clock.monotonic() + limitMs, 'no answer'));
      this.link = { connection, generation: this.sessions };
      return this.link;
    } catch (error) {
      connection.abandon();
      if (error instanceof LeafError) throw error;
      if (!(error instanceof NativeFailure)) return undefined;
      if (error.kind === 'denied') throw error;
      if (error.code === SESSION_EXPIRED) this.session = undefined;
      this.problem = `${endpoint}: ${messageOf(error)}`;
      return undefined;
    }
  }

  private adopt(identity: SessionIdentity): void {
    if (identity.client_id !== this.session?.client_id) this.sessions++;
    this.session = identity;
  }

  private refuseWhenClosed(): void {
    if (this.stopping.signal.aborted) throw this.unreachable('this session was closed');
  }

  private async inTime<T>(promise: Promise<T>, deadline: number, problem: string): Promise<T> {
    if (await withinDeadline(promise, deadline, this.clock)) return promise;
    throw this.unreachable(problem);
  }

  private unreachable(problem: string): ZookeeperFault {
    return new ZookeeperFault(
      'unreachable',
      `ZooKeeper ${this.options.address.description} cannot be reached (${problem}). Check LEAF_ZOOKEEPER and the servers.`,
    );
  }
}
