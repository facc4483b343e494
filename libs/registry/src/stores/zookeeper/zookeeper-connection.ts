import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '@leaf-ids/core';
import { withinDeadline } from '@leaf-ids/core/internal';
import {
  cannotLoad,
  CREATE_FLAGS,
  type NativeConfig,
  type NativeStat,
  PACKAGE,
  PERMIT_ALL,
  type SessionIdentity,
} from './native-client';
import { type HostReport, type HostRequest, nativeHost } from './native-host';
import type { ZookeeperAuth } from './zookeeper-address';
import { CLOSED, NativeFailure } from './zookeeper-fault';

/**
 * Access list of all nodes that an authenticated client creates: all permissions for its own credentials, none for
 * others.
 */
const OWN_ACCESS = [{ perms: PERMIT_ALL, scheme: 'auth', auth: '' }];
/**
 * More chunks than the largest response has. Reached quickly if a socket stays readable without delivering a response.
 */
const MAX_PIECES = 100_000;
/** Time limit for ending the session at the server, in milliseconds. */
const END_MS = 2000;
/** Time limit for a response that needs no server, in milliseconds. */
const PING_MS = 1000;

export interface ConnectionOptions {
  /** Path of the client package. */
  readonly path: string;
  /** Numeric `ip:port`: the client resolves host names in every iteration of its event loop, and blocks it. */
  readonly endpoint: string;
  readonly sessionMs: number;
  readonly auth: ZookeeperAuth | undefined;
  /** The session to resume; undefined starts a new one. */
  readonly resume: SessionIdentity | undefined;
}

interface Pending {
  readonly resolve: (results: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A native client in a separate process, used for one connection: it ends with its socket and never reconnects.
 *
 * The client closes its sockets without notifying the event loop, which then confuses new files and sockets with the
 * same descriptor numbers: the process aborts, or handles events of the wrong socket. Closing the client can also block
 * the event loop for seconds. In a separate process, either costs only one connection: an abort counts as a lost
 * connection, and a blocked process is killed. The main process is not affected.
 *
 * The child process keeps the session alive even while this process is suspended. Uniqueness does not depend on a
 * session; only the list of running servers then includes a suspended one. The child process does not keep this process
 * alive, and ends with it in every case.
 */
export class ZookeeperConnection {
  private host: ChildProcess | undefined;
  private exited: Promise<void> = Promise.resolve();
  private readonly pending = new Map<number, Pending>();
  private asked = 0;
  private opened = false;
  private over = false;

  /** Does not start the process. */
  constructor(
    private readonly options: ConnectionOptions,
    private readonly clock: Clock,
  ) {}

  /** Whether the connection is open and not known to be lost. A suspended process detects a loss late. */
  get usable(): boolean {
    return this.opened && !this.over;
  }

  /** Starts the process; resolves when it accepts requests. */
  async start(): Promise<void> {
    this.host ??= this.spawn();
    await this.ask('ping');
  }

  /**
   * Connects and authenticates; resolves with the session. Starts the process if necessary. Call it once.
   *
   * @throws LeafError `LEAF_CONFIG_INVALID` when the client package does not load
   */
  async open(): Promise<SessionIdentity> {
    const { path, endpoint, sessionMs, auth, resume } = this.options;
    const config: NativeConfig = {
      connect: endpoint,
      timeout: sessionMs,
      debug_level: 0,
      host_order_deterministic: true,
      response_counter_limit: MAX_PIECES,
      ...resume,
    };
    this.host ??= this.spawn();
    const [identity] = await this.ask<[SessionIdentity]>('open', path, config, auth);
    this.opened = true;
    return identity;
  }

  exists(path: string): Promise<[NativeStat]> {
    return this.ask('a_exists', path, false);
  }

  get(path: string): Promise<[NativeStat, Buffer | null]> {
    return this.ask('a_get', path, false);
  }

  set(path: string, data: Buffer, version: number): Promise<[NativeStat]> {
    return this.ask('a_set', path, data, version);
  }

  create(path: string, data: Buffer, kind: keyof typeof CREATE_FLAGS): Promise<[string]> {
    return this.ask('a_create', path, data, CREATE_FLAGS[kind]);
  }

  remove(path: string, version: number): Promise<[]> {
    return this.ask('a_delete_', path, version);
  }

  children(path: string): Promise<[string[]]> {
    return this.ask('a_get_children', path, false);
  }

  /** Sets the access list of a new node, whose access list has version 0. */
  protect(path: string): Promise<[]> {
    return this.ask('a_set_acl', path, 0, OWN_ACCESS);
  }

  /**
   * To be called after a request timed out: abandons the connection if its process is blocked, but not if only the
   * server does not respond.
   */
  async check(): Promise<void> {
    const answer = this.ask('ping').catch(() => undefined);
    if (!(await withinDeadline(answer, this.clock.monotonic() + PING_MS, this.clock))) this.abandon();
  }

  /** Rejects pending calls. The session stays open at the server for another connection, until it times out. */
  abandon(): void {
    this.fail(new NativeFailure(CLOSED, true));
    this.host?.kill('SIGKILL');
  }

  /** Rejects pending calls. If connected, ends the session at the server. Resolves within about 2 s. */
  async end(): Promise<void> {
    this.fail(new NativeFailure(CLOSED, true));
    const { host } = this;
    if (host?.connected === true) host.disconnect();
    host?.ref();
    if (await withinDeadline(this.exited, this.clock.monotonic() + END_MS, this.clock)) return;
    host?.kill('SIGKILL');
    await this.exited;
  }

  private spawn(): ChildProcess {
    const host = spawn(process.execPath, ['-e', `(${nativeHost.toString()})(require)`], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    this.exited = new Promise((resolve) => {
      host.on('exit', () => resolve());
      host.on('error', (error) => {
        this.fail(error);
        if (host.pid === undefined) resolve();
      });
    });
    host.on('message', (message) => this.hear(message as HostReport));
    // Use `disconnect`: `exit` may come before the last report.
    host.on('disconnect', () => this.fail(new NativeFailure(CLOSED, true)));
    host.unref();
    host.channel?.unref();
    return host;
  }

  private ask<Results extends unknown[]>(method: HostRequest['method'], ...args: unknown[]): Promise<Results> {
    return new Promise((resolve, reject) => {
      const { host } = this;
      if (this.over || host?.connected !== true) {
        reject(new NativeFailure(CLOSED, false));
        return;
      }
      const id = this.asked++;
      this.pending.set(id, { resolve, reject });
      host.send({ id, method, args }, (error) => {
        if (error !== null) this.fail(new NativeFailure(CLOSED, true));
      });
    });
  }

  private hear(report: HostReport): void {
    switch (report.kind) {
      case 'answer': {
        const call = this.pending.get(report.id);
        this.pending.delete(report.id);
        if (report.code === 0) call?.resolve(report.results as never);
        else call?.reject(new NativeFailure(report.code, report.sent));
        return;
      }
      case 'lost':
        this.fail(new NativeFailure(report.code === 0 ? CLOSED : report.code, true));
        return;
      case 'unloadable':
        this.fail(cannotLoad(PACKAGE, new Error(report.problem)));
    }
  }

  private fail(error: Error): void {
    this.over = true;
    for (const { reject } of this.pending.values()) reject(error);
    this.pending.clear();
  }
}
