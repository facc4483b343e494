import { LeafError } from '../errors/leaf-error';
import type { BitLayout } from './bit-layout';

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

/** Why no ID can be issued right now. */
export type Obstacle = 'exhausted' | 'absorbing' | 'behind' | 'floor' | 'ceiling' | 'epoch' | 'no-term';

const HOLDS: readonly Obstacle[] = ['no-term', 'behind', 'exhausted', 'absorbing', 'epoch', 'floor', 'ceiling'];

/** Results of the generator's decision when it has no usable timestamp. Numbers need no allocation. */
export const [NO_TERM, BEHIND, EXHAUSTED, ABSORBING, EPOCH, FLOOR, CEILING] = [-2, -3, -4, -5, -6, -7, -8] as const;

export function obstacleOf(decision: number): Obstacle {
  return HOLDS[-2 - decision] ?? 'no-term';
}

export interface HoldState {
  readonly window: IssueWindow;
  readonly layout: BitLayout;
  /** Unix milliseconds of the newest ID. */
  readonly timestamp: number;
  readonly now: number;
}

/** The error for a call that gets no ID. */
export function refusalOf(hold: Obstacle, { window, layout, timestamp, now }: HoldState): LeafError {
  const { term, ceiling, refusal } = window;
  if (hold === 'no-term' || term === undefined) return refusal;
  const { workerId, floor } = term;
  switch (hold) {
    case 'exhausted':
      return new LeafError(
        'LEAF_OVERLOADED',
        `Worker ${workerId} has used all ${layout.maxSequence + 1} IDs of this millisecond. Retry, or distribute the load over more servers.`,
        { retryAfterMs: 1 },
      );
    case 'floor':
      return new LeafError(
        'LEAF_NOT_READY',
        `Worker ${workerId} may have issued IDs for the next ${floor - now} ms before this server started. It issues IDs again when the clock has passed that time.`,
        { retryAfterMs: floor - now + 1 },
      );
    case 'ceiling':
      return new LeafError(
        'LEAF_LEASE_EXPIRED',
        `Worker ${workerId} has used its reserved time up to ${ceiling} (Unix ms) and cannot extend it. It resumes automatically when its registry accepts writes again.`,
        { retryAfterMs: 1000 },
      );
    case 'epoch':
      return new LeafError(
        'LEAF_EPOCH_EXHAUSTED',
        `The clock reads ${now} (Unix ms), outside the time range of the layout, from ${layout.epoch} to ${layout.maxTimestamp}. Correct the clock, or change the epoch or the layout.`,
      );
    case 'absorbing':
    case 'behind':
      return new LeafError(
        'LEAF_CLOCK_BACKWARDS',
        `The clock of worker ${workerId} is ${timestamp - now} ms behind its newest ID. It resumes automatically when the clock has caught up; check the time synchronization of this host.`,
        { retryAfterMs: timestamp - now },
      );
  }
}
