import type { Instance } from './instance';
import type { RegistryDocument } from './registry-document';

/** What is recorded about one worker ID. */
export interface WorkerRecord {
  /** The current holder of the worker ID, or the last one. */
  readonly instance: Instance;
  /** Random, one for each start of a server; undefined in records that the Java service has written. */
  readonly leaseId: string | undefined;
  /** Numbers the writes made under one lease ID, from 1; 0 where none is known. */
  readonly write: number;
  /** Unix milliseconds: no ID of this worker carries a later timestamp. */
  readonly ceiling: number;
  /** Released or reclaimed: no server holds it. */
  readonly free: boolean;
}

/** A record as it was read or written. */
export interface StoredWorker {
  readonly workerId: number;
  readonly record: WorkerRecord;
  /** What the store compares at the next write. Opaque to callers. */
  readonly version: string;
}

export interface StoredRegistry {
  /** Undefined before the first server, and after the registry was emptied. */
  readonly document: RegistryDocument | undefined;
  /**
   * Which copy of the data answered: differs after a replica was promoted. Constant for a store whose copies never lack
   * confirmed writes.
   */
  readonly origin: string;
  /** What the store compares at the next write of the document. Opaque to callers. */
  readonly version: string;
}

/** A clock that ours can be compared with. */
export interface TimeSource {
  /** For errors and logs: `10.0.0.8:8080`, `the database`. */
  readonly name: string;
  /** Unix milliseconds by its clock. A source that is too slow or fails is left out. */
  readonly ask: () => Promise<number>;
}

/** Another server of Leaf. */
export interface Peer {
  /** `ip:port`. */
  readonly instance: string;
  readonly workerId: number | undefined;
}

/**
 * Keeps the records of workers, and one document about the registry, each with a version. It knows no lease, no clock
 * and no policy: the layer above decides which server may take which record.
 *
 * Every write is a compare-and-set on what was read: of two writes from one version, one fails. A rejection means that
 * the outcome is unknown: the write may have been applied, or may yet be; only reading back tells. An implementation
 * may not assume that its caller is alone, nor that it comes back after a failure.
 *
 * Every method rejects with `LEAF_REGISTRY_UNREACHABLE` for faults that pass by themselves, with another code of the
 * catalogue for faults that an operator has to correct.
 */
export abstract class WorkerStore {
  /** The store as an operator knows it, with its place and without secrets: `mysql://db1:3306/leaf`. */
  abstract readonly description: string;

  abstract readRegistry(): Promise<StoredRegistry>;

  /**
   * Writes the document if the registry is still as `read` says.
   *
   * @returns whether it was written
   */
  abstract writeRegistry(read: StoredRegistry, document: RegistryDocument): Promise<boolean>;

  /**
   * All records, or those of one instance, in no order. Records that cannot be read are left out; one of `instance` is
   * an error.
   */
  abstract list(instance?: Instance): Promise<StoredWorker[]>;

  /** @param instance whose record it was when it was listed or written */
  abstract read(workerId: number, instance: Instance): Promise<StoredWorker | undefined>;

  /**
   * Makes a record.
   *
   * @param registry as read before; a store that can tell that its history has changed since makes no record
   * @param workerId undefined: the next number of the store's own numbering
   * @returns undefined when the record exists already, or history has changed
   */
  abstract create(
    registry: StoredRegistry,
    record: WorkerRecord,
    workerId: number | undefined,
  ): Promise<StoredWorker | undefined>;

  /**
   * Replaces a record.
   *
   * @returns undefined when it is no longer as `read` says
   */
  abstract replace(read: StoredWorker, record: WorkerRecord): Promise<StoredWorker | undefined>;

  /**
   * Lists this server as up, where the store keeps such a list. Returns at once; the next call repeats a failed one.
   */
  announce(_instance: Instance, _workerId: number): void {}

  /**
   * Describes, for an error message, the worker IDs that another strategy has in use at the same place; undefined for
   * none, the default. `now` is Unix milliseconds.
   */
  rivals(_now: number): Promise<string | undefined> {
    return Promise.resolve(undefined);
  }

  /** The servers that are up, as far as the store knows; `now` is Unix milliseconds. None by default. */
  peers(_now: number): Promise<Peer[]> {
    return Promise.resolve([]);
  }

  /** Whose clocks a start is compared with: other servers, the database. None by default. */
  timeSources(): Promise<TimeSource[]> {
    return Promise.resolve([]);
  }

  /**
   * Ends the connections, also those that are being made: what waits for one is rejected. Locks stay until
   * {@link close}.
   */
  abort(): Promise<void> {
    return Promise.resolve();
  }

  /** Closes connections and releases locks; records stay as they are. The last call. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
