import { noSegmentExcuses, SEGMENT_EXCUSES, type SegmentExcuseCounts } from './segment-ledger';
import { noSegmentFaults, SEGMENT_FAULTS, type SegmentFaultCounts } from './segment-faults';
import type { SegmentResult } from './segment-world';

/** What came of the worlds with segment IDs. */
export interface SegmentTotals {
  worlds: number;
  ids: number;
  /** Processes that were started. */
  servers: number;
  readonly faults: SegmentFaultCounts;
  readonly excused: SegmentExcuseCounts;
}

export function noSegmentTotals(): SegmentTotals {
  return { worlds: 0, ids: 0, servers: 0, faults: noSegmentFaults(), excused: noSegmentExcuses() };
}

export function segmentTotalsOf({ ids, servers, faults, excused }: SegmentResult): SegmentTotals {
  return { worlds: 1, ids, servers, faults, excused };
}

export function addSegmentTotals(sum: SegmentTotals, more: SegmentTotals): void {
  sum.worlds += more.worlds;
  sum.ids += more.ids;
  sum.servers += more.servers;
  for (const fault of SEGMENT_FAULTS) sum.faults[fault] += more.faults[fault];
  for (const excuse of SEGMENT_EXCUSES) sum.excused[excuse] += more.excused[excuse];
}
