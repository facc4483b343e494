import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { launch } from '../../../support/servers/launch';
import { ask } from '../load/http-ask';
import type { DataDirectory } from './data-directory';
import type { Edges } from './edges';
import type { ServerClock } from './server-clock';

export type RegistryKind = 'zk_normal' | 'zk_recycle' | 'etcd' | 'kubernetes' | 'mysql' | 'database';

export interface LeafProcessOptions {
  /** One letter. */
  readonly name: string;
  readonly registry: RegistryKind;
  readonly host: string;
  readonly port: number;
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly logFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly edges: Edges;
  readonly clock: ServerClock;
  readonly data: DataDirectory;
}

/** Whoever keeps a service running starts it again after this. */
const RESPAWN_MS = 300;
const ASK_LIMIT_MS = 1000;

interface Overview {
  readonly ready: boolean;
  readonly parts: readonly { readonly name: string; readonly status: string; readonly reason: string | null }[];
}

/**
 * A Leaf server at one address, whichever process it is at the moment: one that ends by itself is started again, as a
 * container platform does, and nothing else is ever repaired.
 */
export class LeafProcess {
  readonly name: string;
  readonly registry: RegistryKind;
  readonly edges: Edges;
  readonly clock: ServerClock;
  readonly data: DataDirectory;
  /** How often a process ended that nobody had ended. */
  failedStarts = 0;
  private failedBefore = 0;
  private child: ChildProcess | undefined;
  private ended: Promise<unknown> = Promise.resolve();
  private wanted = false;
  private respawn: NodeJS.Timeout | undefined;

  constructor(private readonly options: LeafProcessOptions) {
    ({ name: this.name, registry: this.registry, edges: this.edges } = options);
    ({ clock: this.clock, data: this.data } = options);
  }

  /** Where its callers find it: the edge in front of it. */
  get address(): string {
    return `http://127.0.0.1:${this.edges.client.port}`;
  }

  /** Does not wait until it serves. */
  start(): Promise<void> {
    this.wanted = true;
    this.failedBefore = this.failedStarts;
    this.spawn();
    return Promise.resolve();
  }

  async kill(): Promise<void> {
    this.stopWanting();
    this.child?.kill('SIGKILL');
    await this.ended;
  }

  /** Asks it to stop, as an operator does who puts a new version in place. */
  async stop(): Promise<void> {
    this.stopWanting();
    this.child?.kill('SIGTERM');
    await this.ended;
  }

  suspend(): void {
    this.child?.kill('SIGSTOP');
  }

  resume(): void {
    this.child?.kill('SIGCONT');
  }

  /** Whether it listens, or has refused to start. */
  async hasStarted(): Promise<boolean> {
    if (this.failedStarts > this.failedBefore) return true;
    const { host, port } = this.options;
    return 'status' in (await ask({ host, port, path: '/health/live', limitMs: ASK_LIMIT_MS }));
  }

  /** What is not well as its callers see it; undefined when nothing is. */
  async trouble(): Promise<string | undefined> {
    const answer = await ask({ port: this.edges.client.port, path: '/api/monitor/overview', limitMs: ASK_LIMIT_MS });
    if ('fault' in answer) return `${this.name}: ${answer.fault}`;
    if (answer.status !== 200) return `${this.name}: overview ${answer.status}`;
    const { ready, parts } = JSON.parse(answer.body) as Overview;
    const bad = parts.find(({ status }) => status !== 'up' && status !== 'off');
    if (bad !== undefined) return `${this.name}: ${bad.name} ${bad.status}: ${bad.reason ?? ''}`;
    return ready ? undefined : `${this.name}: not ready`;
  }

  private stopWanting(): void {
    this.wanted = false;
    clearTimeout(this.respawn);
  }

  private spawn(): void {
    const { command, logFile, env, clock } = this.options;
    const child = launch({ command, logFile, env: { ...env, ...clock.env } });
    this.child = child;
    this.ended = once(child, 'exit').then(() => {
      if (!this.wanted || this.child !== child) return;
      this.failedStarts++;
      this.respawn = setTimeout(() => this.spawn(), RESPAWN_MS);
    });
  }
}
