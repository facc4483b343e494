import { LeafError, type IdRange } from '@leaf-ids/core';
import {
  DEFAULT_SEGMENT_OPTIONS,
  DoubleBuffer,
  IdleRetries,
  LoadTotals,
  SegmentIdGenerator,
  UsedSources,
  type BufferContext,
  type SegmentOptions,
} from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { InMemorySegmentStore } from './in-memory-segment-store';

export const TAG = 'order';

/** Fixture for segment tests: an in-memory store with the row (`TAG`, 1, step), a manual clock and no jitter. */
export class SegmentRig {
  readonly clock = new FakeClock();
  readonly store = new InMemorySegmentStore();
  readonly closing = new AbortController();
  readonly totals = new LoadTotals();
  readonly options: SegmentOptions;
  /** Tags, in the order of `onLoadFailed`. */
  readonly reports: string[] = [];
  readonly refreshFailures: unknown[] = [];
  readonly context: BufferContext;

  constructor(step = 2000, options: Partial<SegmentOptions> = {}) {
    this.options = { ...DEFAULT_SEGMENT_OPTIONS, ...options };
    this.store.put(TAG, 1n, step);
    this.context = {
      store: this.store,
      clock: this.clock,
      random: () => 0,
      options: this.options,
      idleRetries: new IdleRetries(this.clock),
      used: new UsedSources(),
      closing: this.closing.signal,
      totals: this.totals,
      onLoadFailed: (tag) => void this.reports.push(tag),
    };
  }

  buffer(): DoubleBuffer {
    return new DoubleBuffer(TAG, this.context);
  }

  generator(): SegmentIdGenerator {
    return new SegmentIdGenerator(this.store, this.clock, () => 0, this.options, {
      onLoadFailed: this.context.onLoadFailed,
      onRefreshFailed: (error) => void this.refreshFailures.push(error),
    });
  }

  /** Waits until all work that does not need the clock is done. */
  settle(): Promise<void> {
    return this.clock.advance(0);
  }
}

export async function takeMany(source: { take(): Promise<bigint> }, count: number): Promise<bigint[]> {
  const ids: bigint[] = [];
  for (let i = 0; i < count; i++) ids.push(await source.take());
  return ids;
}

/** `from` to `to`, one by one. */
export function idsOf(...ranges: readonly IdRange[]): bigint[] {
  return ranges.flatMap(({ from, to }) => Array.from({ length: Number(to - from) + 1 }, (_, i) => from + BigInt(i)));
}

export function stopping(): LeafError {
  return new LeafError('LEAF_NOT_READY', 'Stopping.');
}
