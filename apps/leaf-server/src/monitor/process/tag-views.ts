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
import { round2 } from '../sampling/round-off';
import { IssueRates } from '../sampling/issue-rates';
import { ServerIdentity } from './server-identity';
import { SortedNames } from './sorted-names';
import type { MonitorTag, SegmentsView, SegmentView } from '../views/views';

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
