import type { LeafError } from '../errors/leaf-error';

/**
 * The times in which a generator may issue; in production a `WorkerLease`. Its fields are read once per millisecond,
 * `lost` with every ID.
 */
export interface IssueWindow {
  readonly workerId: number;
  /** Unix milliseconds: IDs carry later timestamps only. */
  readonly floor: number;
  /** Unix milliseconds: no ID carries a later timestamp. */
  readonly ceiling: number;
  /** Past this time the window wants to be extended. */
  readonly renewAfter: number;
  /** Set once and for ever when the worker ID belongs to somebody else, or was given back. */
  readonly lost: LeafError | undefined;
  /** Extends the ceiling, joining an attempt under way. Never rejects. */
  renew(): Promise<void>;
}
