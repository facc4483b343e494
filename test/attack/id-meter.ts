import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Target } from './crowd';

export interface MeterOptions {
  readonly target: Target;
  /** Paths, and commands of the Redis protocol; used in turn. */
  readonly sources: readonly string[];
  readonly perSecond: number;
  /** A new connection for each request. */
  readonly fresh: boolean;
}

/** The requests that were sent within one window; times in milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** How many requests ended with this status, or with this error code. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly duplicates: number;
}

/** Requests IDs from a thread of its own, so that the work of the attacker does not add to the measured times. */
export class IdMeter {
  private readonly worker: Worker;

  constructor(options: MeterOptions) {
    this.worker = new Worker(join(__dirname, 'meter-thread.mjs'), { workerData: options });
  }

  /** Resolves when all requests of the window have ended. */
  async measure(windowMs: number): Promise<Latency> {
    const answer = once(this.worker, 'message') as Promise<[Latency]>;
    this.worker.postMessage(windowMs);
    return (await answer)[0];
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }
}
