import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Instance } from '@leaf-ids/core';
import type { LeasedRegistryOptions } from '@leaf-ids/registry';
import { ROOT } from '../build';
import { until } from '../until';

const FIXTURE = join(ROOT, 'test/support/fixtures/lease-holder.mjs');

export interface LeaseHolderOptions {
  readonly registry: Omit<LeasedRegistryOptions, 'layout'>;
  readonly instance: Instance;
}

/** What was recorded when a worker ID was acquired. Times are Unix ms. */
interface Window {
  readonly workerId: number;
  /** The ceiling that the acquisition replaced. */
  readonly floor: number;
}

/** A process that holds a worker ID and issues IDs as fast as possible, and a record of these IDs. */
export class LeaseHolder {
  count = 0;
  /** Unix ms of its IDs. */
  lowest = Infinity;
  highest = -Infinity;
  /** IDs that do not come after those before them, or are of another worker. */
  readonly disorder: string[] = [];
  /** Why it stopped issuing. */
  lost: string | undefined;

  private idle = false;
  private window: Window | undefined;
  private lastSequence = -1;
  private stderr = '';
  private readonly closed: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    this.closed = once(child, 'close');
    child.stderr?.on('data', (part: Buffer) => (this.stderr += part.toString()));
    createInterface({ input: child.stdout! }).on('line', (line) => this.read(line));
  }

  /** `env` is added to a minimal environment. */
  static spawn(options: LeaseHolderOptions, env: NodeJS.ProcessEnv = {}): LeaseHolder {
    const child = spawn(process.execPath, [FIXTURE, JSON.stringify(options)], {
      cwd: ROOT,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, ...env },
    });
    return new LeaseHolder(child);
  }

  /** It has connected to its registry and can take the worker ID without delay. */
  async connected(): Promise<void> {
    await this.until('connection', () => this.idle);
  }

  async acquire(): Promise<Window> {
    this.child.stdin?.write('\n');
    return this.until('lease', () => this.window);
  }

  /** Waits until it has issued `more` IDs than now. */
  async issues(more: number): Promise<void> {
    const wanted = this.count + more;
    await this.until('IDs', () => this.count >= wanted);
  }

  /** Waits until it has lost its lease, or has issued above `fence` (Unix ms), which it must not. */
  async losing(fence: number): Promise<void> {
    await this.until('loss of the lease', () => this.lost !== undefined || this.highest > fence);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Resolves when all that it wrote has been read. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.closed;
  }

  private until<T>(what: string, look: () => T): Promise<Exclude<T, undefined | false>> {
    return until(what, () => {
      if (this.child.exitCode !== null) throw new Error(`The holder ended: ${this.stderr}`);
      return look();
    });
  }

  private read(line: string): void {
    const [kind, ...values] = line.split(' ');
    if (kind === 'idle') this.idle = true;
    else if (kind === 'holds') this.window = { workerId: Number(values[0]), floor: Number(values[1]) };
    else if (kind === 'lost') this.lost = values[0];
    else if (kind === 'ids') this.book(values.map(Number) as [number, number, number, number], line);
  }

  private book([timestamp, workerId, first, last]: [number, number, number, number], line: string): void {
    const after = timestamp > this.highest || (timestamp === this.highest && first > this.lastSequence);
    if (!after || last < first || workerId !== this.window?.workerId) this.disorder.push(line);
    this.count += last - first + 1;
    this.lowest = Math.min(this.lowest, timestamp);
    this.highest = Math.max(this.highest, timestamp);
    this.lastSequence = last;
  }
}
