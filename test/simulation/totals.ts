import { FAULTS, noFaults, type FaultCounts } from './faults';
import type { Breach } from './ledger';
import type { SimulationResult } from './world';

export interface FailedSeed {
  readonly seed: number;
  readonly step: number;
  readonly breach: Breach;
  readonly message: string;
}

/** What came of many seeds. */
export interface Totals {
  seeds: number;
  ids: number;
  steps: number;
  acquired: number;
  released: number;
  lost: number;
  readonly faults: FaultCounts;
  /** That with the lowest seed. */
  failure: FailedSeed | undefined;
}

export function noTotals(): Totals {
  return {
    seeds: 0,
    ids: 0,
    steps: 0,
    acquired: 0,
    released: 0,
    lost: 0,
    faults: noFaults(),
    failure: undefined,
  };
}

export function totalsOf({ seed, steps, tally, faults, failure }: SimulationResult): Totals {
  const { ids, acquired, released, lost } = tally;
  return { seeds: 1, ids, steps, acquired, released, lost, faults, failure: failure && { seed, ...failure } };
}

export function addTotals(sum: Totals, more: Totals): void {
  for (const key of ['seeds', 'ids', 'steps', 'acquired', 'released', 'lost'] as const) sum[key] += more[key];
  for (const fault of FAULTS) sum.faults[fault] += more.faults[fault];
  const { failure } = more;
  if (failure !== undefined && (sum.failure === undefined || failure.seed < sum.failure.seed)) sum.failure = failure;
}
