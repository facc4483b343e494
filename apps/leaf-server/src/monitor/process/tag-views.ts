import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import {
  forEachInPages,
  type SegmentIdGenerator,
  type SegmentSnapshot,
  type TagSnapshot,
} from '@leaf-ids/core/internal';
import { SegmentService } from '@leaf-ids/id';
import { withVariables } from '../../config/variables';
import { round2 } from '../sampling/traffic';
import { IssueRates } from '../sampling/issue-rates';
import type { MonitorTag, SegmentsView, SegmentView } from '../views/views';
import { TimeSlice } from '../sampling/time-slice';
import { ServerIdentity } from './server-identity';

/** Tags that are looked at without a pause: requests pass in between. */
export const SLICE = 250;

/** The views of the tags, which are sent in pages. */
@Injectable()
export class TagViews {
  private readonly segments: SegmentIdGenerator | undefined;
  private readonly sorted: SortedNames | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly identity: ServerIdentity,
    private readonly rates: IssueRates,
    @Optional() segments?: SegmentService,
  ) {
    this.segments = segments?.generator;
    this.sorted = this.segments && new SortedNames(clock, this.segments);
  }

  /** The names of all tags, unsorted. */
  async names(): Promise<string[]> {
    const names: string[] = [];
    await this.segments?.survey((tag) => names.push(tag));
    return names;
  }

  /** The first `count` names after `after`, in order. */
  async namesAfter(after: string | undefined, count: number): Promise<readonly string[]> {
    return (await this.sorted?.page(after, count)) ?? [];
  }

  viewOf(tag: string): MonitorTag | undefined {
    const snapshot = this.segments?.snapshotOf(tag);
    return snapshot === undefined ? undefined : toMonitorTag(snapshot, this.rateOf(tag));
  }

  revisionOf(tag: string): number | undefined {
    return this.segments?.revisionOf(tag);
  }

  rateOf(tag: string): number {
    return this.rates.rateOf(tag);
  }

  /** Calls `act` with each of `tags`, and lets requests pass after every slice. */
  forEach(tags: Iterable<string>, act: (tag: string) => void): Promise<void> {
    return forEachInPages(tags, SLICE, act, this.clock);
  }

  /** A {@link SegmentsView} in JSON, of tags that are JSON already. */
  json(tags: readonly string[]): string {
    const [head, tail] = this.frame();
    return head + tags.join(',') + tail;
  }

  /** The JSON before and after the tags of a {@link SegmentsView}. */
  frame(): [head: string, tail: string] {
    const view: SegmentsView = {
      enabled: this.segments !== undefined,
      now: this.clock.now(),
      prefetchRatio: this.identity.prefetchRatio,
      tags: [],
    };
    const tail = ']}';
    return [JSON.stringify(view).slice(0, -tail.length), tail];
  }
}

/** @param rate IDs per second */
export function toMonitorTag(snapshot: TagSnapshot, rate: number): MonitorTag {
  const { tag, order, loading, paused, step, databaseStep, issued, buffered, loads, failures } = snapshot;
  // A segment that was loaded ahead of the first ID waits as the next one.
  const [first, second] = [snapshot.current, snapshot.next, ...snapshot.spare].filter((view) => view !== undefined);
  const inUse = first !== undefined && first.position > first.to ? (second ?? first) : first;
  return {
    tag,
    strict: order === 'strict',
    initialized: first !== undefined,
    nextReady: second !== undefined,
    loading,
    paused,
    period: snapshot.period ?? null,
    position: inUse === undefined ? null : String(inUse.position),
    segments: [toSegmentView(first), toSegmentView(second)],
    step,
    databaseStep,
    issued,
    buffered,
    rate: round2(rate),
    lastsMs: rate > 0 && order !== 'strict' ? Math.round((buffered * 1000) / rate) : null,
    loads,
    failures,
    lastLoad: {
      at: snapshot.lastLoadAt ?? null,
      ms: snapshot.lastLoadMs === undefined ? null : round2(snapshot.lastLoadMs),
      error: withVariables(snapshot.lastError) ?? null,
    },
  };
}

function toSegmentView(segment: SegmentSnapshot | undefined): SegmentView | null {
  if (segment === undefined) return null;
  const max = segment.to + 1n;
  return { value: String(segment.position), max: String(max), step: Number(max - segment.from) };
}

/** Names that are sorted, or merged, without a pause. */
const RUN = 500;

/** The names of the tags in order, for pages. They are sorted again, in slices, when a page is read after tags came or went. */
class SortedNames {
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
