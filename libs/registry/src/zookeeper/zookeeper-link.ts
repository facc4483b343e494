import { type Clock, LeafError, messageOf, type RandomSource, settledBefore } from '@leaf/core';
import { findEndpoints } from './endpoints';
import { locateNativeClient, type SessionIdentity } from './native-client';
import type { ZookeeperAddress, ZookeeperAuth } from './zookeeper-address';
import { ZookeeperConnection } from './zookeeper-connection';
import { NativeFailure, SESSION_EXPIRED, ZookeeperFault } from './zookeeper-fault';

/** Between two rounds through all servers: each attempt starts a process. */
const PAUSE_MS = 500;
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

/** Keeps one connection to one of the servers, made when it is needed, and the session that goes from one to the next. */
export class ZookeeperLink {
  private connection: ZookeeperConnection | undefined;
  private opening: Promise<ZookeeperConnection> | undefined;
  private session: SessionIdentity | undefined;
  private sessions = 0;
  /** Why there is no connection yet. */
  private problem = '';
  private readonly stopping = new AbortController();

  constructor(
    private readonly options: ZookeeperLinkOptions,
    private readonly clock: Clock,
    private readonly random: RandomSource,
  ) {}

  get connected(): boolean {
    return this.connection?.usable === true;
  }

  /** How many sessions there have been. */
  get generation(): number {
    return this.sessions;
  }

  /**
   * @throws ZookeeperFault `unreachable` or `denied`
   * @throws LeafError `LEAF_CONFIG_INVALID` when the client package is missing
   */
  async use(): Promise<ZookeeperConnection> {
    if (this.connection?.usable === true) return this.connection;
    this.refuseWhenClosed();
    this.opening ??= this.open().finally(() => (this.opening = undefined));
    const { opening } = this;
    // Whoever gives up leaves it under way for the next call.
    opening.catch(() => undefined);
    if (await settledBefore(opening, this.clock.monotonic() + this.options.connectMs, this.clock)) return opening;
    throw this.unreachable(this.problem);
  }

  /** Resolves when nothing of it is left on this machine. */
  async close(): Promise<void> {
    this.stopping.abort();
    await this.connection?.end();
  }

  private async open(): Promise<ZookeeperConnection> {
    const { address, auth, connectMs, sessionMs } = this.options;
    let deadline = this.clock.monotonic() + connectMs;
    this.problem = 'the name service is silent';
    const path = locateNativeClient();
    const endpoints = await this.inTime(findEndpoints(address, this.random), deadline, this.problem);
    const shareMs = connectMs / endpoints.length;
    let n = 0;
    for (;;) {
      const endpoint = endpoints[n % endpoints.length] ?? '';
      if (n === 0) this.problem = `${endpoint}: no answer`;
      if (n > 0 && n % endpoints.length === 0) {
        await this.clock.sleep(Math.min(PAUSE_MS, deadline - this.clock.monotonic()), this.stopping.signal);
      }
      this.refuseWhenClosed();
      const now = this.clock.monotonic();
      if (now >= deadline) throw this.unreachable(this.problem);
      const connection = new ZookeeperConnection({ path, endpoint, sessionMs, auth, resume: this.session }, this.clock);
      this.connection?.abandon();
      this.connection = connection;
      try {
        await this.inTime(connection.start(), now + START_MS, 'its process does not start');
        // How long that takes says nothing of the server.
        const started = this.clock.monotonic();
        deadline += started - now;
        this.adopt(await this.inTime(connection.open(), Math.min(started + shareMs, deadline), 'no answer'));
        return connection;
      } catch (error) {
        connection.abandon();
        if (error instanceof LeafError) throw error;
        if (error instanceof NativeFailure && error.code === SESSION_EXPIRED) this.session = undefined;
        if (error instanceof NativeFailure && error.kind === 'denied') throw error;
        this.problem = `${endpoint}: ${error instanceof ZookeeperFault ? 'no answer' : messageOf(error)}`;
        n++;
      }
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
    if (await settledBefore(promise, deadline, this.clock)) return promise;
    throw this.unreachable(problem);
  }

  private unreachable(problem: string): ZookeeperFault {
    return new ZookeeperFault(
      'unreachable',
      `ZooKeeper ${this.options.address.description} cannot be reached (${problem}). Check LEAF_ZOOKEEPER and the servers.`,
    );
  }
}
