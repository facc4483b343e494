import { type ChildProcess, spawn } from 'node:child_process';
import { type Clock, withinDeadline } from '@leaf-ids/core';
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

/** Of all nodes that an authenticated client makes: everything for its own credentials, nothing for anybody else. */
const OWN_ACCESS = [{ perms: PERMIT_ALL, scheme: 'auth', auth: '' }];
/** More than a server's largest answer has, and soon reached where a socket is ready for ever without an answer. */
const MAX_PIECES = 100_000;
/** For the end of the session at the server. */
const END_MS = 2000;
/** For an answer that needs no server. */
const PING_MS = 1000;

export interface ConnectionOptions {
  /** Where the client package is. */
  readonly path: string;
  /** `ip:port`, numeric: the client looks names up anew at every turn of its event loop, which waits for it. */
  readonly endpoint: string;
  readonly sessionMs: number;
  readonly auth: ZookeeperAuth | undefined;
  /** The session to go on with; undefined starts a new one. */
  readonly resume: SessionIdentity | undefined;
}

interface Pending {
  readonly resolve: (results: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One native client, in a process of its own, used for one connection: it ends with its socket and never connects again.
 *
 * The client closes its sockets without the event loop being told, which then mixes up what gets the same descriptor
 * numbers: the process aborts, or takes news of one socket for news of another. Closing the client can also hold the
 * event loop up for seconds. In its own process that costs one connection: an abort is a loss like any other, and a
 * process that is stuck is killed. Nothing else has to be taken care of there, neither the moment in which the client is
 * closed nor what is opened or started meanwhile.
 *
 * The process keeps the session alive by itself, also while this one is suspended. Nothing unique rests on a session;
 * only the list of the servers that are up shows a suspended one. It does not keep this process alive, and ends with it,
 * however that ends.
 */
export class ZookeeperConnection {
  private host: ChildProcess | undefined;
  private exited: Promise<void> = Promise.resolve();
  private readonly pending = new Map<number, Pending>();
  private asked = 0;
  private opened = false;
  private over = false;

  /** Has no effect. */
  constructor(
    private readonly options: ConnectionOptions,
    private readonly clock: Clock,
  ) {}

  /** Open, and not yet lost, as far as anybody has noticed: a suspended process learns it late. */
  get usable(): boolean {
    return this.opened && !this.over;
  }

  /** Starts the process; resolves when it can be asked. */
  async start(): Promise<void> {
    this.host ??= this.spawn();
    await this.ask('ping');
  }

  /**
   * Gives the session once that and the authentication have been accepted. Starts the process if need be. Called once.
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

  /** Of a new node, whose access list nobody has touched. */
  protect(path: string): Promise<[]> {
    return this.ask('a_set_acl', path, 0, OWN_ACCESS);
  }

  /** After a call without an answer: abandons it when its process is stuck, and not only the server silent. */
  async check(): Promise<void> {
    const answer = this.ask('ping').catch(() => undefined);
    if (!(await withinDeadline(answer, this.clock.monotonic() + PING_MS, this.clock))) this.abandon();
  }

  /** What is pending is rejected. The session goes on at the server, for another connection, until it times out. */
  abandon(): void {
    this.fail(new NativeFailure(CLOSED, true));
    this.host?.kill('SIGKILL');
  }

  /** What is pending is rejected at once. While connected, it ends the session at the server. Resolves in 2 s or so. */
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
    // Not `exit`, which may come before the last report.
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
