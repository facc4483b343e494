import { BitLayout, DEFAULT_LAYOUT } from '@leaf/core';
import type { SeededRandom } from './seeded-random';

export type Protocol = 'sql' | 'zk_normal' | 'zk_recycle';

/** Unix milliseconds at which every simulation starts. */
export const START = 1_700_000_000_000;

/** For people: timestamps are easier to compare when they start at 0. */
export function sinceStart(timestamp: number): string {
  return timestamp < START / 2 ? 'no time' : `${timestamp - START}`;
}

/** What one seed plays: drawn once, then fixed. */
export interface Conditions {
  readonly protocol: Protocol;
  readonly layout: BitLayout;
  readonly horizonMs: number;
  readonly reportMs: number;
  /** Everything happens at multiples of this, so that much happens at once; 0 for any time. */
  readonly grainMs: number;
  readonly timeoutMs: number;
  /** Share of requests that something happens to. */
  readonly requestFaults: number;
  /** Mean time between faults of hosts and of the registry. */
  readonly faultEveryMs: number;
  /** Mean time between the requests for IDs that one process gets. */
  readonly askEveryMs: number;
  readonly hosts: number;
  /** Of each server: they share a host and its clock, each has a name of its own, and one ends without the others. */
  readonly processes: number;
  /** Records of a pool. */
  readonly poolSize: number;
  /** The simulation ends after so many steps. */
  readonly steps: number;
  /** IDs that may be issued in floods. */
  readonly floodIds: number;
}

export function drawConditions(random: SeededRandom): Conditions {
  const protocol = random.pick<Protocol>(['sql', 'zk_normal', 'zk_recycle']);
  const sequenceBits = random.pick([2, 5, 12]);
  const reportMs = random.pick([300, 3000, 3000, 600_000]);
  const horizons = protocol === 'zk_recycle' ? random.pick([4, 20]) : 10 / 3;
  const grainMs = random.chance(0.5) ? reportMs : 0;
  return {
    protocol,
    layout: new BitLayout({ ...DEFAULT_LAYOUT, sequenceBits }),
    horizonMs: Math.round(reportMs * horizons),
    reportMs,
    grainMs,
    timeoutMs: grainMs > 0 ? grainMs : Math.min(2000, reportMs / 2),
    requestFaults: random.pick([0, 0.02, 0.1, 0.3]),
    faultEveryMs: reportMs * random.spread(0.5, 10),
    askEveryMs: reportMs * random.spread(0.1, 2),
    hosts: 2 + random.below(3),
    poolSize: 1 + random.below(3),
    steps: 200 + random.below(400),
    floodIds: 60_000,
    processes: random.chance(0.3) ? 2 + random.below(2) : 1,
  };
}
