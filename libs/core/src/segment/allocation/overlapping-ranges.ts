import type { IdRange } from '../tags/id-range';

/** An allocation in flight. */
export interface SentAllocation {
  /** The highest ID that was known to be taken when it was sent. */
  readonly above: bigint;
}

/**
 * Checks the results of allocations of one tag that overlap in time: a result is new if it is above every result that was
 * known when its allocation was sent, and has no ID of those that came since.
 */
export class OverlappingRanges {
  /** In the order in which they were sent, so that `above` never falls. */
  private readonly inFlight = new Set<SentAllocation>();
  /** Ascending, those that adjoin each other joined. */
  private ranges: IdRange[] = [];

  /** @param highest the highest ID known to be taken */
  constructor(public highest: bigint) {}

  /** Number of allocations in flight. */
  get size(): number {
    return this.inFlight.size;
  }

  send(): SentAllocation {
    const sent = { above: this.highest };
    this.inFlight.add(sent);
    return sent;
  }

  /** Takes a result. @returns false if it has IDs that were taken before */
  take({ above }: SentAllocation, { from, to }: IdRange): boolean {
    const { ranges } = this;
    // The newest results are the highest, but for those that overlap in time.
    let next = ranges.length;
    while (next > 0 && (ranges[next - 1] as IdRange).from > from) next--;
    const [below, higher] = [ranges[next - 1], ranges[next]];
    if (from <= above || (below !== undefined && from <= below.to) || (higher !== undefined && to >= higher.from))
      return false;
    if (below !== undefined && below.to + 1n === from) ranges[next - 1] = { from: below.from, to };
    else ranges.splice(next, 0, { from, to });
    if (to > this.highest) this.highest = to;
    return true;
  }

  /** The allocation was answered, or failed. */
  end(sent: SentAllocation): void {
    const [oldest] = this.inFlight;
    this.inFlight.delete(sent);
    if (sent !== oldest) return;
    const [next] = this.inFlight;
    const above = next?.above ?? this.highest;
    this.ranges = this.ranges.filter(({ to }) => to > above);
  }
}
