import type { Clock } from '@leaf-ids/core';
import type { SegmentIdGenerator } from '@leaf-ids/core/internal';
import { TimeSlice } from '../sampling/time-slice';

/** Names that are sorted, or merged, without a pause. */
const RUN = 500;

/** The names of the tags in order, for pages. They are sorted again, in slices, when a page is read after tags came or went. */
export class SortedNames {
  private names: readonly string[] = [];
  /** Of the names: see {@link SegmentIdGenerator.namesRevision}. */
  private revision: number | undefined;
  private sorting: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly segments: SegmentIdGenerator,
  ) {}

  /** The first `count` names after `after`. */
  async page(after: string | undefined, count: number): Promise<readonly string[]> {
    // A run under way may have begun before the newest change.
    for (let tries = 0; tries < 2 && this.revision !== this.segments.namesRevision; tries++) {
      this.sorting ??= this.sort().finally(() => (this.sorting = undefined));
      await this.sorting;
    }
    const start = after === undefined ? 0 : firstAfter(this.names, after);
    return this.names.slice(start, start + count);
  }

  private async sort(): Promise<void> {
    const { namesRevision } = this.segments;
    const names: string[] = [];
    await this.segments.survey((tag) => names.push(tag));
    this.names = await sortInSlices(names, new TimeSlice(this.clock));
    this.revision = namesRevision;
  }
}

/** Merge sort; names that a database has sorted already are joined at the price of a copy. */
export async function sortInSlices(names: readonly string[], slice: TimeSlice): Promise<readonly string[]> {
  let runs: (readonly string[])[] = [];
  for (let start = 0; start < names.length; start += RUN) {
    runs.push(names.slice(start, start + RUN).sort());
    await slice.yieldIfOver();
  }
  while (runs.length > 1) {
    const merged: (readonly string[])[] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(await merge(runs[index] ?? [], runs[index + 1] ?? [], slice));
      await slice.yieldIfOver();
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge(left: readonly string[], right: readonly string[], slice: TimeSlice): Promise<readonly string[]> {
  const [first] = right;
  if (first === undefined || (left.at(-1) ?? '') <= first) return left.concat(right);
  const merged: string[] = [];
  for (let l = 0, r = 0; l < left.length || r < right.length;) {
    const [a, b] = [left[l], right[r]];
    if (b === undefined || (a !== undefined && a <= b)) l = merged.push(a ?? '') - r;
    else r = merged.push(b) - l;
    if (merged.length % RUN === 0) await slice.yieldIfOver();
  }
  return merged;
}

function firstAfter(names: readonly string[], after: string): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((names[middle] ?? '') <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}
