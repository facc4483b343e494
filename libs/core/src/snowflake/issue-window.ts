import type { LeafError } from '../errors/leaf-error';

/** The time for which one worker ID is held without a break. */
export interface Tenure {
  readonly workerId: number;
  /** Unix milliseconds: IDs carry later timestamps only. At or above the newest ID issued under an earlier tenure. */
  readonly floor: number;
}

/**
 * The times in which a generator may issue; in production a `WorkerLease`. Its fields are read once per millisecond,
 * `tenure` with every ID.
 */
export interface IssueWindow {
  /** Another object for every acquisition; undefined while no worker ID is held. */
  readonly tenure: Tenure | undefined;
  /** Unix milliseconds: no ID carries a later timestamp. */
  readonly ceiling: number;
  /** Unix milliseconds from which on the window should be extended. */
  readonly renewAfter: number;
  /** Why nothing is issued while there is no tenure. */
  readonly refusal: LeafError;
  /** Extends the ceiling, joining an attempt under way. Never rejects. */
  renew(): Promise<void>;
}
