import type { Instance } from './instance';

/** What a server knows of its worker without the registry. Times are Unix milliseconds. */
export interface FileRecord {
  /** `ip:port`. */
  readonly instance: string;
  /** Description of the registry. In another registry the worker ID may belong to another server. */
  readonly registry: string;
  readonly registryId: string;
  readonly generation: number;
  /** The origin of that generation; undefined where it is not known. */
  readonly origin?: string | undefined;
  /** When that generation began; undefined where it is not known. */
  readonly began?: number | undefined;
  readonly layout: string;
  readonly workerId: number;
  /** No ID of this worker from this server carries a timestamp above it. */
  readonly ceiling: number;
  readonly leaseId: string;
  /** The newest write under `leaseId` that the registry has confirmed. */
  readonly write: number;
  /** The newest write that was sent, confirmed or not. */
  readonly attempted: number;
  /** Lease IDs of the acquisitions of unknown outcome since the last confirmed one, separated by spaces. */
  readonly attempt: string | undefined;
  /** Only `held` proves that the registry gave the worker ID to no other server. */
  readonly state: 'held' | 'released' | 'lost';
}

/** Limits the file of a server that restarts again and again without its registry. */
const MOST_ATTEMPTS = 100;

/** {@link FileRecord.attempt} with one more; of very many the oldest is dropped. */
export function withAttempt(attempt: string | undefined, leaseId: string): string {
  const others = attemptsOf(attempt).filter((each) => each !== leaseId);
  return [...others, leaseId].slice(-MOST_ATTEMPTS).join(' ');
}

export function attemptsOf(attempt: string | undefined): string[] {
  return attempt?.split(' ') ?? [];
}

/** A locked file of one server, on its own disk. Closing it lets go of the lock. */
export abstract class WorkerFile {
  /** For errors. */
  abstract readonly path: string;

  /**
   * Locks the file, once, and reads it.
   *
   * @returns undefined when there is none
   * @throws LeafError `LEAF_WORKER_HELD` when another process has it, `LEAF_WORKER_FILE_INVALID` when it cannot be
   *   trusted
   */
  abstract open(instance: Instance): Promise<FileRecord | undefined>;

  /**
   * Replaces the file durably.
   *
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE` when it cannot be written, or is no longer at its place
   */
  abstract write(record: FileRecord): Promise<void>;

  abstract close(): void;
}
