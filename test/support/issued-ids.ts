import type { IdRange } from '@leaf-ids/core';

/** All IDs of one issuer as ranges, and its violations of the order. */
export class IssuedIds {
  readonly ranges: IdRange[] = [];
  /** Responses with an ID that is not above all responses before the request, or not above the previous ID. */
  readonly descents: string[] = [];
  private highest = 0n;

  /** Requests IDs, records the response and returns their number. Overlapping requests can complete in any order. */
  async book(ask: () => Promise<readonly IdRange[]>): Promise<number> {
    let floor = this.highest;
    let count = 0;
    for (const range of await ask()) {
      if (range.from <= floor) this.descents.push(`${range.from} after ${floor}`);
      floor = range.to;
      count += Number(range.to - range.from) + 1;
      this.ranges.push(range);
    }
    if (floor > this.highest) this.highest = floor;
    return count;
  }
}

/** Converts single IDs to the minimum number of ranges in the same order. */
export function runsOf(ids: readonly bigint[]): IdRange[] {
  const runs: { from: bigint; to: bigint }[] = [];
  for (const id of ids) {
    const last = runs.at(-1);
    if (last !== undefined && id === last.to + 1n) last.to = id;
    else runs.push({ from: id, to: id });
  }
  return runs;
}

/** Overlapping pairs of ranges. */
export function givenTwice(ranges: readonly IdRange[]): [IdRange, IdRange][] {
  const sorted = [...ranges].sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
  const twice: [IdRange, IdRange][] = [];
  let reaching = sorted[0];
  for (const range of sorted.slice(1)) {
    if (reaching !== undefined && range.from <= reaching.to) twice.push([reaching, range]);
    if (reaching === undefined || range.to > reaching.to) reaching = range;
  }
  return twice;
}

/** Number of IDs that were issued more than once. */
export function countTwice(ranges: readonly IdRange[]): number {
  let end = 0n;
  let count = 0n;
  for (const { from, to } of [...ranges].sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0))) {
    if (from <= end) count += (to < end ? to : end) - from + 1n;
    if (to > end) end = to;
  }
  return Number(count);
}
