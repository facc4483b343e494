import type { RandomSource } from '../../util/random';
import type { Instance } from '../records/instance';
import type { WorkerUsage } from '../records/registry-document';
import type { WorkerRange } from '../records/worker-range';
import type { StoredWorker, WorkerStore } from '../records/worker-store';

/** The next candidate: a record to replace, or a worker ID to create (`undefined`: the next number of the store). */
export type Choice = { readonly take: StoredWorker } | { readonly create: number | undefined };

/**
 * How many of the free worker IDs a holder may take, at least 1, given all records.
 *
 * @throws LeafError `LEAF_WORKERS_USED_UP`
 */
export type Room = (records: readonly StoredWorker[]) => number;

export interface ChoiceContext {
  readonly store: WorkerStore;
  readonly instance: Instance;
  readonly leaseId: string;
  /** The worker ID that this server had before, if any. */
  readonly previous: number | undefined;
  /** The worker IDs that this server may take. */
  readonly workers: WorkerRange;
  /** Unix milliseconds. */
  readonly now: number;
  /** Whether this server's clock was compared with others and is correct. */
  readonly clockCompared: boolean;
  readonly random: RandomSource;
  /** Without it, the holder may take every free worker ID. */
  readonly room?: Room | undefined;
}

/** The longest settings that a server of the registry may have, in milliseconds. */
export interface GraceOptions {
  readonly leaseTtlMs: number;
  readonly reportMs: number;
  readonly clockOffsetMs: number;
}

/**
 * Decides which server may take which record. Does not write. It is asked again if other servers took all candidates.
 */
export abstract class WorkerPolicy {
  /**
   * Whether a record belongs to one `ip:port`. If so, a record that another process holds means that a second server
   * with this address is running.
   */
  abstract readonly exclusive: boolean;

  /** Grace period for newcomers in a new generation, in milliseconds. */
  abstract graceMs(options: GraceOptions): number;

  /**
   * The candidates, best first. Empty if other servers were faster.
   *
   * @throws LeafError `LEAF_WORKERS_USED_UP`, or the errors of the store
   */
  abstract choices(context: ChoiceContext): AsyncIterable<Choice>;

  /** Those of the worker IDs in `workers` that are ever taken. */
  usable(workers: WorkerRange): WorkerRange {
    return workers;
  }

  /** The usage of the worker IDs in `workers`; undefined if they cannot run out. */
  abstract usage(records: readonly StoredWorker[], workers: WorkerRange, now: number): WorkerUsage | undefined;
}
