import { LeafError } from '../errors/leaf-error';
import type { BitLayout } from './bit-layout';
import type { IssueWindow } from './issue-window';

/** Why no ID can be issued right now. */
export type Obstacle = 'exhausted' | 'absorbing' | 'behind' | 'floor' | 'ceiling' | 'epoch' | 'no-tenure';

const HOLDS: readonly Obstacle[] = ['no-tenure', 'behind', 'exhausted', 'absorbing', 'epoch', 'floor', 'ceiling'];

/** The generator's decisions that there is no timestamp to issue with: numbers, which cost nothing to make. */
export const [NO_TENURE, BEHIND, EXHAUSTED, ABSORBING, EPOCH, FLOOR, CEILING] = [-2, -3, -4, -5, -6, -7, -8] as const;

export function obstacleOf(decision: number): Obstacle {
  return HOLDS[-2 - decision] ?? 'no-tenure';
}

export interface HoldState {
  readonly window: IssueWindow;
  readonly layout: BitLayout;
  /** Unix milliseconds of the newest ID. */
  readonly timestamp: number;
  readonly now: number;
}

/** The error of a call that gets no ID. */
export function refusalOf(hold: Obstacle, { window, layout, timestamp, now }: HoldState): LeafError {
  const { tenure, ceiling, refusal } = window;
  if (hold === 'no-tenure' || tenure === undefined) return refusal;
  const { workerId, floor } = tenure;
  switch (hold) {
    case 'exhausted':
      return new LeafError(
        'LEAF_OVERLOADED',
        `Worker ${workerId} has used all ${layout.maxSequence + 1} IDs of this millisecond. Try again, or spread the load over more servers.`,
        { retryAfterMs: 1 },
      );
    case 'floor':
      return new LeafError(
        'LEAF_NOT_READY',
        `Worker ${workerId} may have issued IDs for the next ${floor - now} ms before it was restarted and waits for the clock to pass them.`,
        { retryAfterMs: floor - now + 1 },
      );
    case 'ceiling':
      return new LeafError(
        'LEAF_LEASE_EXPIRED',
        `Worker ${workerId} reserved time up to ${ceiling} and has not been able to reserve more. It goes on by itself when its registry can be written again.`,
        { retryAfterMs: 1000 },
      );
    case 'epoch':
      return new LeafError(
        'LEAF_EPOCH_EXHAUSTED',
        `The clock reads ${now}, outside the layout's time from ${layout.epoch} to ${layout.maxTimestamp}. Correct the clock, or choose an epoch or layout for this time.`,
      );
    case 'absorbing':
    case 'behind':
      return new LeafError(
        'LEAF_CLOCK_BACKWARDS',
        `The clock of worker ${workerId} is ${timestamp - now} ms behind its newest ID. It goes on by itself when the clock has caught up; check the time service of this host.`,
        { retryAfterMs: timestamp - now },
      );
  }
}
