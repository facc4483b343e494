import { type Clock, LeafError, type RandomSource } from '@leaf-ids/core';
import { messageOf, withinDeadline } from '@leaf-ids/core/internal';
import { findEndpoints, type ZookeeperAddress, type ZookeeperAuth } from './zookeeper-address';
import { locateNativeClient, type SessionIdentity } from './native-client';
import { ZookeeperConnection } from './zookeeper-connection';
import { NativeFailure, SESSION_EXPIRED, ZookeeperFault } from './zookeeper-fault';

/**
 * Pause after the first failed round through all servers, in milliseconds; doubles with each round. Every attempt
 * starts a process.
 */
const PAUSE_MS = 500;
/** Longest pause before the next connection, in milliseconds. */
const LONGEST_PAUSE_MS = 10_000;
/** Time limit for the start of a process on an overloaded host, in milliseconds. */
const START_MS = 30_000;

export interface ZookeeperLinkOptions {
  readonly address: ZookeeperAddress;
  readonly auth?: ZookeeperAuth;
  /** Time limit for a call to get a connection, in milliseconds. */
  readonly connectMs: number;
  /**
   * Session timeout without a connection, in milliseconds. The server may change it, by default to between 2 and 20 of
   * its ticks of 2 s.
   */
  readonly sessionMs: number;
}

export interface OpenLink {
  readonly connection: ZookeeperConnection;
  /** Number of the session of the connection. */
  readonly generation: number;
}

/**
 * Maintains one connection to one of the servers, opened on demand, and moves the session to each new connection.
 *
 * During an outage, it tries all servers in rounds in the background as long as there are calls, at growing intervals
 * of at most {@link LONGEST_PAUSE_MS}. After the servers return, a connection is open again within that time.
 */
export class ZookeeperLink {
  /** The latest connection, which may not be open yet. */
  private connection: ZookeeperConnection | undefined;
  private link: OpenLink | undefined;
  private opening: Promise<OpenLink> | undefined;
  private session: SessionIdentity | undefined;
  private sessions = 0;
  /** End of the attempts to connect, in monotonic milliseconds; each call extends it. */
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

  /** Number of sessions so far. */
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
    // If this call times out, the attempt continues for the next call.
    opening.catch(() => undefined);
    if (await withinDeadline(opening, deadline, this.clock)) return opening;
    throw this.unreachable(this.problem);
  }

  /** Resolves when its child process has exited. */
  async close(): Promise<void> {
    this.stopping.abort();
    await this.connection?.end();
  }

  private async open(): Promise<OpenLink> {
    const { address, connectMs } = this.options;
    this.problem = 'DNS does not respond';
    const path = locateNativeClient();
    let pauseMs = PAUSE_MS;
    for (;;) {
      const looking = findEndpoints(address, this.random);
      const endpoints = await this.inTime(looking, this.clock.monotonic() + connectMs, 'DNS does not respond');
      for (const endpoint of endpoints) {
        this.refuseWhenClosed();
        const link = await this.connectTo(endpoint, path, connectMs / endpoints.length);
        if (link !== undefined) return link;
      }
      if (this.clock.monotonic() >= this.wantedUntil) throw this.unreachable(this.problem);
      // Jitter: clients that lost ZooKeeper at the same time do not reconnect at the same time.
      await this.clock.sleep(pauseMs - this.random(pauseMs / 4), this.stopping.signal);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  }

  /**
   * @returns undefined if another server or a later attempt may succeed
   * @throws NativeFailure or LeafError for errors that every server would return
   */
  private async connectTo(endpoint: string, path: string, limitMs: number): Promise<OpenLink | undefined> {
    const { auth, sessionMs } = this.options;
    const connection = new ZookeeperConnection({ path, endpoint, sessionMs, auth, resume: this.session }, this.clock);
    this.connection?.abandon();
    this.connection = connection;
    this.problem = `${endpoint}: no response`;
    try {
      await this.inTime(connection.start(), this.clock.monotonic() + START_MS, 'the client process does not start');
      // Starting the process has a separate time limit, which does not depend on the server.
      this.adopt(await this.inTime(connection.open(), this.clock.monotonic() + limitMs, 'no response'));
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
    if (this.stopping.signal.aborted) throw this.unreachable('this client is closed');
  }

  private async inTime<T>(promise: Promise<T>, deadline: number, problem: string): Promise<T> {
    if (await withinDeadline(promise, deadline, this.clock)) return promise;
    throw this.unreachable(problem);
  }

  private unreachable(problem: string): ZookeeperFault {
    return new ZookeeperFault(
      'unreachable',
      `Cannot connect to ZooKeeper ${this.options.address.description} (${problem}). Check the option snowflake.registry.zookeeper.address and the servers.`,
    );
  }
}
