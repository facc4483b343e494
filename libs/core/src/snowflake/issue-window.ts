import type { LeafError } from '../errors/leaf-error';

/** An uninterrupted period in which one worker ID is held. */
export interface Term {
  readonly workerId: number;
  /** Unix milliseconds: all IDs have later timestamps. At or above the newest timestamp of earlier terms. */
  readonly floor: number;
}

/**
 * The time window in which a generator may issue IDs; in production a `WorkerLease`. The generator reads its fields
 * once per millisecond, and `term` for every ID.
 */
export interface IssueWindow {
  /** A new object for each acquisition; undefined while no worker ID is held. */
  readonly term: Term | undefined;
  /** Unix milliseconds: no ID has a later timestamp. */
  readonly ceiling: number;
  /** Unix milliseconds after which the window should be renewed. */
  readonly renewAfter: number;
  /** The error of all calls while there is no term. */
  readonly refusal: LeafError;
  /** Raises the ceiling; joins a renewal in progress. Never rejects. */
  renew(): Promise<void>;
}
