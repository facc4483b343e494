import type { IdRange } from '@leaf-ids/core';

/** Every ID that one issuer has answered with, as ranges, and where it broke its order. */
export class IssuedIds {
  readonly ranges: IdRange[] = [];
  /** Answers with an ID that is not above all that was answered before they were asked for, or not above its neighbour. */
  readonly descents: string[] = [];
  private highest = 0n;

  /** Asks and books the answer; returns how many IDs came. Answers to questions that overlap may come in any order. */
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

/** Single IDs as ranges: as few as their order allows. */
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
