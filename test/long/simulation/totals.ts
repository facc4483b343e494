import { EXCUSES, type ExcuseCounts, noExcuses } from './excuses';
import { FAULTS, noFaults, type FaultCounts } from './faults';
import type { Breach } from './ledger';
import type { SegmentBreach } from './segments/segment-ledger';
import { addSegmentTotals, noSegmentTotals, type SegmentTotals, segmentTotalsOf } from './segments/segment-totals';
import type { SegmentResult } from './segments/segment-world';
import { noTally, TALLY, type Tally } from './tally';
import type { SimulationResult } from './world';

export interface FailedSeed {
  readonly seed: number;
  readonly breach: Breach | SegmentBreach;
  readonly message: string;
}

/** What came of many seeds. Of a single world, `seeds` is 0. */
export interface Totals {
  seeds: number;
  steps: number;
  readonly tally: Tally;
  readonly faults: FaultCounts;
  readonly excused: ExcuseCounts;
  /** Of kinds that were played. */
  readonly strategies: Record<string, number>;
  readonly segments: SegmentTotals;
  /** That with the lowest seed. */
  failure: FailedSeed | undefined;
}

export function noTotals(): Totals {
  return {
    ...{ seeds: 0, steps: 0, tally: noTally(), faults: noFaults(), excused: noExcuses(), strategies: {} },
    segments: noSegmentTotals(),
    failure: undefined,
  };
}

export function totalsOf({ seed, steps, tally, faults, excused, conditions, failure }: SimulationResult): Totals {
  const strategies = { [conditions.strategy]: 1 };
  return { ...noTotals(), steps, tally, faults, excused, strategies, failure: failure && { seed, ...failure } };
}

export function totalsOfSegments(result: SegmentResult): Totals {
  const { seed, failure } = result;
  return { ...noTotals(), segments: segmentTotalsOf(result), failure: failure && { seed, ...failure } };
}

export function addTotals(sum: Totals, more: Totals): void {
  sum.seeds += more.seeds;
  sum.steps += more.steps;
  for (const key of TALLY) sum.tally[key] += more.tally[key];
  for (const fault of FAULTS) sum.faults[fault] += more.faults[fault];
  for (const excuse of EXCUSES) sum.excused[excuse] += more.excused[excuse];
  for (const [name, count] of Object.entries(more.strategies))
    sum.strategies[name] = (sum.strategies[name] ?? 0) + count;
  addSegmentTotals(sum.segments, more.segments);
  const { failure } = more;
  if (failure !== undefined && (sum.failure === undefined || failure.seed < sum.failure.seed)) sum.failure = failure;
}
