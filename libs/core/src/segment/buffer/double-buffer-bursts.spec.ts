import { type Allocation, type IdRange, MAX_ID, PLAIN_TAG, SystemClock } from '@leaf-ids/core';
import { InMemorySegmentStore } from '../../../../../test/support/fakes/in-memory-segment-store';
import { idsOf, SegmentRig, TAG, takeMany } from '../../../../../test/support/fakes/segment-rig';
import { type Watched, watch } from '../../../../../test/support/watch';
import { DoubleBuffer } from './double-buffer';
import { MAX_BLOCKS } from '../tags/segment-store';

const STEP = 100;
/** A share of this many blocks: every second block is its own. */
const interleaved = (block: number): typeof PLAIN_TAG => ({
  ...PLAIN_TAG,
  interleave: { of: 2, remainder: 0, block },
});

function sizes({ store }: SegmentRig): number[] {
  return store.granted.map(({ from, to }) => Number(to - from) + 1);
}

function takes(buffer: DoubleBuffer, count: number): Watched<bigint>[] {
  return Array.from({ length: count }, () => watch(buffer.take()));
}

const valuesOf = <T>(calls: readonly Watched<T>[]): (T | undefined)[] => calls.map(({ value }) => value);

describe('DoubleBuffer, many calls at once', () => {
  let rig: SegmentRig;
  let buffer: DoubleBuffer;

  beforeEach(() => {
    rig = new SegmentRig(STEP);
    buffer = rig.buffer();
  });

  it.each([
    ['a load of its step, and one for the others', 1000, [STEP, 900]],
    ['one load', 5000, [5000]],
  ])('serves a burst on a tag without IDs with %s', async (_, count, loads) => {
    const calls = takes(buffer, count);
    await rig.settle();
    expect(valuesOf(calls)).toEqual(idsOf({ from: 1n, to: BigInt(count) }));
    expect(sizes(rig).slice(0, loads.length)).toEqual(loads);
    // The prefetches that follow have the step of the row or the next dynamic one: a burst does not raise them.
    expect(Math.max(...sizes(rig).slice(loads.length))).toBeLessThanOrEqual(2 * STEP);
  });

  it('covers all calls of one turn with one load once the step is known', async () => {
    await takeMany(buffer, 2 * STEP);
    await rig.settle();
    buffer.tryRanges(buffer.buffered);
    await rig.settle();
    buffer.tryRanges(buffer.buffered);
    rig.store.granted.length = 0;
    rig.store.hold();
    const calls = takes(buffer, 5000);
    await rig.settle();
    rig.store.release();
    await rig.settle();
    expect(calls.every(({ value }) => value !== undefined)).toBe(true);
    expect(rig.store.granted.length).toBeLessThanOrEqual(2);
  });

  it('serves many ranges with few allocations', async () => {
    const calls = Array.from({ length: 1000 }, () => watch(buffer.takeRanges(10)));
    await rig.settle();
    expect(idsOf(...calls.flatMap(({ value }) => value!))).toEqual(idsOf({ from: 1n, to: 10_000n }));
    expect(sizes(rig)[0]).toBe(10_000);
  });

  it('loads no more than a million IDs at once for several calls', async () => {
    const calls = Array.from({ length: 3 }, () => watch(buffer.takeRanges(600_000)));
    await rig.clock.advance(10);
    expect(sizes(rig).slice(0, 2)).toEqual([1_000_000, 800_000]);
    expect(valuesOf(calls).flatMap((ranges) => ranges!)[0]).toMatchObject({ from: 1n });
  });

  it('keeps its calls waiting, and refuses none, until the store answers', async () => {
    rig.store.hold();
    const calls = takes(buffer, 10_000);
    await rig.clock.advance(rig.options.waitMs - 1);
    expect(calls.some(({ settled }) => settled)).toBe(false);
    rig.store.release();
    await rig.settle();
    expect(valuesOf(calls)).toEqual(idsOf({ from: 1n, to: 10_000n }));
  });

  it('covers the calls of an interleaved tag with many blocks of one allocation', async () => {
    rig.store.put(TAG, 1n, STEP, interleaved(1));
    const calls = takes(buffer, 5000);
    await rig.settle();
    expect(valuesOf(calls)).toEqual(Array.from({ length: 5000 }, (_, index) => BigInt(2 * index + 1)));
    expect(rig.store.count('allocate')).toBeLessThanOrEqual(3);
  });
});

describe('DoubleBuffer, near the last ID of a tag', () => {
  it('issues every ID that is left, although a step is larger', async () => {
    const rig = new SegmentRig(STEP);
    rig.store.put(TAG, MAX_ID - 250n, STEP);
    const buffer = rig.buffer();
    expect(await takeMany(buffer, 250)).toEqual(idsOf({ from: MAX_ID - 250n, to: MAX_ID - 1n }));
    await expect(buffer.take()).rejects.toMatchObject({ code: 'LEAF_TAG_EXHAUSTED' });
    expect(sizes(rig)).toEqual([100, 100, 50]);
  });

  it('goes back to the step of the row when the dynamic step is larger than what is left', async () => {
    const rig = new SegmentRig(STEP);
    const buffer = rig.buffer();
    await takeMany(buffer, 5000);
    rig.store.put(TAG, MAX_ID - 250n, STEP);
    rig.store.granted.length = 0;
    const rest = buffer.buffered;
    const ids = await takeMany(buffer, rest + 250);
    expect(ids.slice(rest)).toEqual(idsOf({ from: MAX_ID - 250n, to: MAX_ID - 1n }));
    await expect(buffer.take()).rejects.toMatchObject({ code: 'LEAF_TAG_EXHAUSTED' });
  });

  it('serves the calls of a burst for which it has IDs', async () => {
    const rig = new SegmentRig(STEP);
    rig.store.put(TAG, MAX_ID - 250n, STEP);
    const calls = takes(rig.buffer(), 300);
    await rig.settle();
    expect(calls.filter(({ value }) => value !== undefined)).toHaveLength(250);
    expect(new Set(calls.map(({ code }) => code))).toEqual(new Set([undefined, 'LEAF_TAG_EXHAUSTED']));
  });

  it('serves a range for which it has IDs, beside others for which it has none', async () => {
    const rig = new SegmentRig(STEP);
    rig.store.put(TAG, MAX_ID - 250n, STEP);
    const buffer = rig.buffer();
    const [first, second] = [watch(buffer.takeRanges(200)), watch(buffer.takeRanges(200))];
    await rig.clock.advance(10);
    expect(first.value).toEqual([{ from: MAX_ID - 250n, to: MAX_ID - 51n }]);
    expect(second.code).toBe('LEAF_TAG_EXHAUSTED');
  });
});

describe('DoubleBuffer, ranges of small blocks', () => {
  /** Answers within the same turn of the event loop, as SQLite does, with a few IDs each time. */
  class HastyStore extends InMemorySegmentStore {
    allocations = 0;

    override allocate(): Promise<Allocation> {
      new SystemClock().pause(0.5);
      const from = BigInt(this.allocations++) * 200n + 1n;
      return Promise.resolve({ from, to: from + 99n, step: 100 });
    }
  }

  it('takes up to its limit in one allocation, and refuses more without taking any', async () => {
    const rig = new SegmentRig(STEP);
    rig.store.put(TAG, 1n, STEP, interleaved(1));
    const buffer = rig.buffer();
    const ranges = await buffer.takeRanges(MAX_BLOCKS);
    expect(ranges).toHaveLength(MAX_BLOCKS);
    expect(ranges.at(-1)).toEqual({ from: 2n * BigInt(MAX_BLOCKS) - 1n, to: 2n * BigInt(MAX_BLOCKS) - 1n });
    const before = rig.store.count('allocate');
    const refusal = expect.objectContaining({
      code: 'LEAF_SIZE_INVALID',
      message: expect.stringContaining(`at most ${MAX_BLOCKS}`),
    });
    await expect(buffer.takeRanges(MAX_BLOCKS + 1)).rejects.toEqual(refusal);
    expect(rig.store.count('allocate')).toBe(before);
  });

  it('returns the blocks that it has not issued to the store, newest first', async () => {
    const rig = new SegmentRig(STEP);
    rig.store.put(TAG, 1n, STEP, interleaved(10));
    const buffer = rig.buffer();
    await buffer.take();
    rig.store.hold();
    const late = watch(buffer.takeRanges(50));
    await rig.clock.advance(rig.options.waitMs);
    expect(late.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
    rig.store.release();
    await rig.settle();
    const rest = await buffer.retire(() => new Error('unused') as never);
    expect(rest.map(({ from }: IdRange) => from)).toEqual([101n, 81n, 61n, 41n, 21n, 2n]);
  });

  it('lets others run and obeys the deadline while a store needs many allocations, and keeps their IDs', async () => {
    const clock = new SystemClock();
    const store = new HastyStore();
    const waitMs = 100;
    const rig = new SegmentRig(STEP, { waitMs });
    const buffer = new DoubleBuffer(TAG, { ...rig.context, store, clock });
    let turns = 0;
    const turn = setInterval(() => turns++, 1);
    await expect(buffer.takeRanges(MAX_BLOCKS * 100)).rejects.toMatchObject({ code: 'LEAF_SEGMENT_UNAVAILABLE' });
    clearInterval(turn);
    expect(turns).toBeGreaterThan(1);
    await buffer.takeRanges(buffer.buffered + 1);
    expect(buffer.issued + buffer.buffered).toBe(store.allocations * 100);
  });
});
