import { having } from '../../util/options';
import { forEachParallel } from '../../util/for-each';
import type { Instance } from './instance';
import type { RegistryDocument } from './registry-document';

/** Records that are created at the same time: several hundred within a few seconds, also if a request takes 0.2 s. */
const CREATIONS = 64;

/** The record of one worker ID. */
export interface WorkerRecord {
  /** The current holder of the worker ID, or the last one. */
  readonly instance: Instance;
  /** Random, new for each start of a server; undefined in records that the Java service wrote. */
  readonly leaseId: string | undefined;
  /** Number of the write under this lease ID, from 1; 0 if unknown. */
  readonly write: number;
  /** Unix milliseconds: no ID of this worker has a later timestamp. */
  readonly ceiling: number;
  /** Whether it was released or reclaimed, so that no server holds it. */
  readonly free: boolean;
}

/** A record as read or written. */
export interface StoredWorker {
  readonly workerId: number;
  readonly record: WorkerRecord;
  /** Compared by the store at the next write. Opaque to callers. */
  readonly version: string;
}

/** A record to create. */
export type NewWorker = Pick<StoredWorker, 'workerId' | 'record'>;

export interface StoredRegistry {
  /** Undefined before the first start of a server, and after the registry was emptied. */
  readonly document: RegistryDocument | undefined;
  /**
   * Identifies the copy of the data that was read: differs after a replica was promoted. Constant for a store whose
   * copies never lack confirmed writes.
   */
  readonly origin: string;
  /** Compared by the store at the next write of the document. Opaque to callers. */
  readonly version: string;
}

/** A source of time to compare our clock with. */
export interface TimeSource {
  /** Name for errors and logs: `10.0.0.8:8080`, `the database`. */
  readonly name: string;
  /** Reads its clock, in Unix milliseconds. A source that is too slow or fails is ignored. */
  readonly ask: () => Promise<number>;
}

/** Another Leaf server. */
export interface Peer {
  /** `ip:port`. */
  readonly instance: string;
  readonly workerId: number | undefined;
}

/**
 * Stores the records of workers and the document of the registry, each with a version. It contains no lease, clock or
 * policy logic: the layer above decides which server may take which record.
 *
 * Every write is a compare-and-set on the version that was read: of two writes from one version, one fails. A rejection
 * means that the outcome is unknown: the write may have been applied, or may be applied later; only reading back tells.
 * An implementation must not assume that it has only one caller, or that a caller retries after a failure.
 *
 * Every method rejects with `LEAF_REGISTRY_UNREACHABLE` for transient failures, and with another code of the catalogue
 * for failures that an operator must correct.
 */
export abstract class WorkerStore {
  /** Name of the store for operators, with its location and without secrets: `mysql://db1:3306/leaf`. */
  abstract readonly description: string;

  abstract readRegistry(): Promise<StoredRegistry>;

  /**
   * Writes the document if the version of the registry is still that of `read`.
   *
   * @returns whether it was written
   */
  abstract writeRegistry(read: StoredRegistry, document: RegistryDocument): Promise<boolean>;

  /**
   * All records, or those of one instance, in no particular order. Skips unreadable records, but rejects for an
   * unreadable record of `instance`.
   */
  abstract list(instance?: Instance): Promise<StoredWorker[]>;

  /** @param instance the instance of the record when it was listed or written */
  abstract read(workerId: number, instance: Instance): Promise<StoredWorker | undefined>;

  /**
   * Creates a record.
   *
   * @param registry as read before; a store that can detect that its history has changed since then creates no record
   * @param workerId undefined: use the next number of the store
   * @returns undefined if the record exists, or the history has changed
   */
  abstract create(
    registry: StoredRegistry,
    record: WorkerRecord,
    workerId: number | undefined,
  ): Promise<StoredWorker | undefined>;

  /**
   * Creates several records, and leaves those that exist as they are; otherwise as {@link create}. The caller reads the
   * records to learn the outcome. A store that can write them in one request overrides it.
   */
  createAll(registry: StoredRegistry, workers: readonly NewWorker[]): Promise<void> {
    return forEachParallel(workers, CREATIONS, async ({ workerId, record }) => {
      await this.create(registry, record, workerId);
    });
  }

  /**
   * Replaces a record.
   *
   * @returns undefined if its version is no longer that of `read`
   */
  abstract replace(read: StoredWorker, record: WorkerRecord): Promise<StoredWorker | undefined>;

  /**
   * Whether the store can tell that no other process holds the worker ID, whatever the ceiling of its record says; false
   * by default.
   */
  isUnheld(_workerId: number): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** Lists this server as running, if the store has such a list. Does not wait; the next call retries a failed one. */
  announce(_instance: Instance, _workerId: number): void {}

  /**
   * Describes, for an error message, the worker IDs that another strategy uses in the same location; undefined (the
   * default) if there are none.
   *
   * @param _mayBeUsed whether the holder of a record may still use it
   */
  otherStrategies(_mayBeUsed: (record: WorkerRecord) => boolean): Promise<string | undefined> {
    return Promise.resolve(undefined);
  }

  /** The running servers that the store knows. `now` is in Unix milliseconds. Empty by default. */
  peers(_now: number): Promise<Peer[]> {
    return Promise.resolve([]);
  }

  /** The clocks to compare with at a start: other servers, the database. Empty by default. */
  timeSources(): Promise<TimeSource[]> {
    return Promise.resolve([]);
  }

  /** Aborts the connections, including those under way: waits for them reject. Locks stay until {@link close}. */
  abort(): Promise<void> {
    return Promise.resolve();
  }

  /** Closes connections and releases locks; does not change records. Must be the last call. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Rule for an option that is a store. */
export const workerStoreRule = having('readRegistry', 'a WorkerStore');
