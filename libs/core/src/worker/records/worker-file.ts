import type { Instance } from './instance';

/** The state of a worker that a server keeps outside the registry. Times are Unix milliseconds. */
export interface FileRecord {
  /** `ip:port`. */
  readonly instance: string;
  /** Description of the registry. In a different registry the worker ID may belong to another server. */
  readonly registry: string;
  readonly registryId: string;
  readonly generation: number;
  /** The origin of that generation; undefined if unknown. */
  readonly origin?: string | undefined;
  /** Start of that generation; undefined if unknown. */
  readonly began?: number | undefined;
  readonly layout: string;
  readonly workerId: number;
  /** No ID of this worker from this server has a later timestamp. */
  readonly ceiling: number;
  readonly leaseId: string;
  /** Number of the latest write under `leaseId` that the registry has confirmed. */
  readonly write: number;
  /** Number of the latest write that was sent, confirmed or not. */
  readonly attempted: number;
  /** Lease IDs of acquisitions with unknown outcome since the last confirmed one, separated by spaces. */
  readonly attempt: string | undefined;
  /** Only `held` proves that the registry has not assigned the worker ID to another server. */
  readonly state: 'held' | 'released' | 'lost';
}

/** Limits the size of the file of a server that restarts repeatedly without its registry. */
const MAX_ATTEMPTS = 100;

/** Appends a lease ID to {@link FileRecord.attempt}; drops the oldest above the limit. */
export function withAttempt(attempt: string | undefined, leaseId: string): string {
  const others = attemptsOf(attempt).filter((each) => each !== leaseId);
  return [...others, leaseId].slice(-MAX_ATTEMPTS).join(' ');
}

export function attemptsOf(attempt: string | undefined): string[] {
  return attempt?.split(' ') ?? [];
}

/** A locked file of one server, on its local disk. Closing it releases the lock. */
export abstract class WorkerFile {
  /** Path of the file, for error messages. */
  abstract readonly path: string;

  /**
   * Locks the file on the first call, and reads it.
   *
   * @returns undefined if the file does not exist
   * @throws LeafError `LEAF_WORKER_HELD` when another process has locked it, `LEAF_WORKER_FILE_INVALID` when its
   *   content is invalid
   */
  abstract open(instance: Instance): Promise<FileRecord | undefined>;

  /**
   * Replaces the file durably.
   *
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE` when it cannot be written, or was moved or replaced
   */
  abstract write(record: FileRecord): Promise<void>;

  abstract close(): void;
}
