import type { RandomSource } from '../random';
import type { Instance } from './instance';
import type { StoredWorker, WorkerStore } from './worker-store';

/** What to try next: a record to replace, or one to make (`undefined`: with the next number of the store). */
export type Choice = { readonly take: StoredWorker } | { readonly create: number | undefined };

export interface ChoiceContext {
  readonly store: WorkerStore;
  readonly instance: Instance;
  readonly leaseId: string;
  /** The worker ID that this server had before, if any. */
  readonly previous: number | undefined;
  /** Highest worker ID that the layout holds. */
  readonly maxWorkerId: number;
  /** Unix milliseconds. */
  readonly now: number;
  /** Whether this server's clock was compared with others and found right. */
  readonly clockCompared: boolean;
  readonly random: RandomSource;
}

/** How far the worker IDs of a registry are used up. */
export interface WorkerUsage {
  /** Worker IDs that a new server cannot get now. */
  readonly used: number;
  /** Number of worker IDs in all. */
  readonly most: number;
}

export interface GraceOptions {
  readonly horizonMs: number;
  readonly reportMs: number;
  readonly maxClockOffsetMs: number;
}

/** Decides which server may take which record. Writes nothing; asked again when other servers took all its choices. */
export abstract class WorkerPolicy {
  /** Whether a record belongs to one `ip:port`: one that another process holds shows a running twin. */
  abstract readonly exclusive: boolean;

  /** How long newcomers wait in a new generation, in milliseconds. */
  abstract graceMs(options: GraceOptions): number;

  /**
   * The candidates, best first. Empty when other servers were faster.
   *
   * @throws LeafError `LEAF_WORKERS_USED_UP`, or what the store throws
   */
  abstract choices(context: ChoiceContext): AsyncIterable<Choice>;

  /** Undefined where worker IDs cannot run out. */
  abstract usage(records: readonly StoredWorker[], maxWorkerId: number, now: number): WorkerUsage | undefined;
}
