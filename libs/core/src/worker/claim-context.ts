import type { Clock } from '../clock/clock';
import type { LeaseHolder } from './lease-holder';
import type { RegistryHistory, RegistryMemory } from './registry-memory';
import type { FileRecord, WorkerFile } from './worker-file';
import type { StoredWorker, WorkerStore } from './worker-store';

/** What every claim of one server shares. */
export interface ClaimContext {
  /** The registry as an operator knows it. */
  readonly description: string;
  readonly layout: string;
  readonly store: WorkerStore;
  readonly memory: RegistryMemory;
  readonly file: WorkerFile | undefined;
  readonly clock: Clock;
  /** Largest offset between the clocks of two servers, in milliseconds. */
  readonly maxClockOffsetMs: number;
  /** Whether a record belongs to one `ip:port`: finding another's lease in it means that a twin is up. */
  readonly exclusive: boolean;
  /** @throws LeafError `LEAF_CLOCK_OFFSET` when our clock is not as those of others */
  readonly compareClock: (holder: LeaseHolder) => Promise<unknown>;
}

/** What a claim begins with. */
export interface ClaimStart {
  readonly workerId: number;
  readonly floor: number;
  readonly ceiling: number;
  /** The registry that gave it. */
  readonly registry: RegistryHistory;
  /** Undefined when the file stands in: the registry has not confirmed it yet. */
  readonly stored: StoredWorker | undefined;
  /** The file of the process before. */
  readonly before: FileRecord | undefined;
}
