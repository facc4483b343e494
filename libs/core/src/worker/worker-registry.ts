import type { Instance } from './instance';

/** Who asks for a worker ID. */
export interface LeaseHolder extends Instance {
  /** Random, new for every acquisition: tells a twin on the same `ip:port` apart. */
  readonly leaseId: string;
}

/** A worker ID that was acquired, as recorded by its registry. */
export interface WorkerClaim {
  readonly workerId: number;
  /** Unix milliseconds: the ceiling that the compare-and-set of the acquisition replaced, 0 for a new record. */
  readonly previousCeiling: number;
  /** Unix milliseconds: the ceiling now recorded. */
  readonly ceiling: number;
  /** What the registry compares at the next write. Opaque to everybody else. */
  readonly version: unknown;
}

/** Somebody whose clock can be compared with ours. */
export interface TimeSource {
  /** For errors and logs: `10.0.0.8:8080`, `the database`. */
  readonly name: string;
  /** Unix milliseconds by its clock. May take as long as it likes, and fail: then it counts as not there. */
  readonly ask: () => Promise<number>;
}

/** Another server of Leaf. */
export interface Peer {
  /** `ip:port`. */
  readonly instance: string;
  readonly workerId: number | undefined;
}

/** How far the worker IDs of a registry are used up. */
export interface WorkerUsage {
  /** Those that a server new to the registry could not be given now. */
  readonly used: number;
  /** All there are. */
  readonly most: number;
}

/**
 * Chooses the ceiling to record, from the one read (0 for a new record). It throws when that ceiling rules this holder
 * out; the registry then writes nothing and lets the error through.
 */
export type CeilingProposal = (recordedCeiling: number) => number;

/**
 * Where worker IDs are recorded: one record a worker, holding its holder, its ceiling and a version.
 *
 * Every write is a compare-and-set on the version that was read: of two that write from one version, one fails. An
 * implementation may *not* assume that its caller is alone, that clocks of two holders agree, that a write whose answer
 * did not arrive was not applied, or that it is called again after a failure. It keeps no ceiling in mind for the
 * caller and does no waiting of its own.
 */
export abstract class WorkerRegistry {
  /** The registry as an operator knows it, with its place: `local (/var/lib/leaf/leaf)`. */
  abstract readonly description: string;

  /** What makes this registry less than reliable now, for health and metrics; undefined when all is well. */
  get trouble(): string | undefined {
    return undefined;
  }

  /**
   * Takes a worker ID by compare-and-set and records the proposed ceiling.
   *
   * @throws LeafError what `propose` threw; a start-up fault that names what is in the way; or
   *   `LEAF_REGISTRY_UNREACHABLE`
   */
  abstract acquire(holder: LeaseHolder, propose: CeilingProposal): Promise<WorkerClaim>;

  /**
   * Records a higher ceiling for `claim` and returns the claim to use from now on. A rejection other than
   * `LEAF_LEASE_LOST` means that the outcome is unknown: the caller counts the write as not done and comes back with
   * the same claim, and the implementation then finds out whether the record's new version is its own work.
   *
   * @throws LeafError `LEAF_LEASE_LOST` when somebody else has written, or `LEAF_REGISTRY_UNREACHABLE`
   */
  abstract extend(claim: WorkerClaim, ceiling: number): Promise<WorkerClaim>;

  /**
   * Gives the worker ID back, leaving `ceiling`, at or below the recorded one, for whoever takes it next.
   *
   * @throws LeafError as {@link extend}
   */
  abstract release(claim: WorkerClaim, ceiling: number): Promise<void>;

  /**
   * Those whose clocks a start is compared with: servers that are up, by their `ip:port`, one of our own included if it
   * is listed; the database. None by default.
   */
  timeSources(): Promise<TimeSource[]> {
    return Promise.resolve([]);
  }

  /** The servers that are up, as far as the registry knows. None by default. */
  peers(): Promise<Peer[]> {
    return Promise.resolve([]);
  }

  /**
   * Housekeeping that any server may do for all; harmless when several do it at once, or one is suspended in the middle.
   * Nothing by default.
   *
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE`
   */
  maintain(): Promise<void> {
    return Promise.resolve();
  }

  /**
   * Undefined where there is no stock that could run out, as by default.
   *
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE`
   */
  usage(): Promise<WorkerUsage | undefined> {
    return Promise.resolve(undefined);
  }

  /** Lets go of connections and locks; records stay as they are. Called once, when nothing more will be asked. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
