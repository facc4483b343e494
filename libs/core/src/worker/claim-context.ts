import type { Clock } from '../clock/clock';
import type { LeaseHolder } from './lease-holder';
import type { RegistryHistory, RegistryMemory } from './registry-memory';
import type { FileRecord, WorkerFile } from './worker-file';
import type { StoredWorker, WorkerStore } from './worker-store';

/** Shared by all claims of one server. */
export interface ClaimContext {
  /** Name of the registry for operators. */
  readonly description: string;
  readonly layout: string;
  readonly store: WorkerStore;
  readonly memory: RegistryMemory;
  readonly file: WorkerFile | undefined;
  readonly clock: Clock;
  /** Largest offset between the clocks of two servers, in milliseconds. */
  readonly clockOffsetMs: number;
  /**
   * Whether a record belongs to one `ip:port`: the lease of another process in it means that a second server with this
   * address is running.
   */
  readonly exclusive: boolean;
  /** @throws LeafError `LEAF_CLOCK_OFFSET` when our clock differs too much from those of other servers */
  readonly compareClock: (holder: LeaseHolder) => Promise<unknown>;
}

/** The initial state of a claim. */
export interface ClaimStart {
  readonly workerId: number;
  readonly floor: number;
  readonly ceiling: number;
  /** The registry that assigned it. */
  readonly registry: RegistryHistory;
  /** Undefined after a start from the worker file: the registry has not confirmed the claim yet. */
  readonly stored: StoredWorker | undefined;
  /** The worker file of the previous process. */
  readonly before: FileRecord | undefined;
}
