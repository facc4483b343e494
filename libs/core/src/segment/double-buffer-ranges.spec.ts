import { idsOf, SegmentRig, stopping, TAG, takeMany } from '../../../../test/support/segment-rig';
import { watch, type Watched } from '../../../../test/support/watch';
import { FakeClock } from '../clock/fake-clock';
import { DoubleBuffer } from './double-buffer';
import { sizeOf, type IdRange } from './id-range';

interface Loaded {
  readonly rig: SegmentRig;
  readonly buffer: DoubleBuffer;
}

/** A clock on which something happens just as a sleep ends, some turns of the event queue before the sleeper wakes. */
class HurriedClock extends FakeClock {
  onWake = (): void => undefined;

  constructor(private readonly turns: number) {
    super();
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await super.sleep(ms, signal);
    if (!signal?.aborted) this.onWake();
    for (let i = 0; i < this.turns; i++) await Promise.resolve();
  }
}

/** A buffer that holds 4 to 10 and 11 to 20 of the row's step 10. */
async function loaded(): Promise<Loaded> {
  const rig = new SegmentRig(10);
  const buffer = rig.buffer();
  await takeMany(buffer, 3);
  await rig.settle();
  return { rig, buffer };
}

/** Calls `takeRanges` with a store that holds its answer, and waits until the call is refused. */
async function refusedRange({ rig, buffer }: Loaded, count: number): Promise<Watched<IdRange[]>> {
  rig.store.hold();
  const call = watch(buffer.takeRanges(count));
  await rig.clock.advance(rig.options.waitMs);
  expect(call.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
  return call;
}

describe('DoubleBuffer, ranges', () => {
  it('takes what is buffered without a call of the store', async () => {
    const { rig, buffer } = await loaded();
    rig.store.breakDown();
    const calls = rig.store.calls.length;
    await expect(buffer.takeRanges(2)).resolves.toEqual([{ from: 4n, to: 5n }]);
    await expect(buffer.takeRanges(5)).resolves.toEqual([{ from: 6n, to: 10n }]);
    expect(rig.store.calls).toHaveLength(calls);
  });

  it('takes what a store that gives less than it is asked for gives in several allocations', async () => {
    const { rig, buffer } = await loaded();
    rig.store.most = 4;
    const ranges = await buffer.takeRanges(20);
    expect(idsOf(...ranges)).toEqual(idsOf({ from: 4n, to: 23n }));
    expect(buffer.buffered).toBe(17);
    expect(await takeMany(buffer, 17)).toEqual(idsOf({ from: 24n, to: 40n }));
  });

  it('keeps what was loaded for a call that had to give up between two allocations', async () => {
    const { rig, buffer } = await loaded();
    rig.store.most = 4;
    rig.store.hold();
    const call = watch(buffer.takeRanges(20));
    await rig.settle();
    rig.store.release();
    rig.store.hold();
    await rig.settle();
    await rig.clock.advance(rig.options.waitMs);
    expect(call.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
    rig.store.release();
    await rig.settle();
    // 17 were buffered, and two allocations of 4 were done.
    expect(buffer.buffered).toBe(25);
    expect(await takeMany(buffer, 25)).toEqual(idsOf({ from: 4n, to: 28n }));
  });

  it.each([2, 8])('takes %d of 8 without waiting for the load that is under way', async (count) => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    await takeMany(buffer, 1);
    rig.store.hold();
    expect(buffer.tryNext()).toBe(2n);
    expect(rig.store.held).toHaveLength(1);
    const range = watch(buffer.takeRanges(count));
    await rig.settle();
    expect(range.value).toEqual([{ from: 3n, to: BigInt(2 + count) }]);
  });

  it('takes over the border of two segments', async () => {
    const { buffer } = await loaded();
    await expect(buffer.takeRanges(9)).resolves.toEqual([
      { from: 4n, to: 10n },
      { from: 11n, to: 12n },
    ]);
    expect(await buffer.take()).toBe(13n);
  });

  it('takes all that is buffered', async () => {
    const { buffer } = await loaded();
    expect(idsOf(...(await buffer.takeRanges(17)))).toEqual(idsOf({ from: 4n, to: 20n }));
    expect(await buffer.take()).toBe(21n);
  });

  it('takes without waiting what is buffered, and nothing of it when that is too little', async () => {
    const { rig, buffer } = await loaded();
    rig.store.hold();
    expect(buffer.tryRanges(18)).toBeUndefined();
    expect(buffer.tryRanges(17)).toEqual([
      { from: 4n, to: 10n },
      { from: 11n, to: 20n },
    ]);
    expect(buffer.tryRanges(1)).toBeUndefined();
    rig.store.release();
    await rig.settle();
    expect(buffer.tryRanges(1)).toEqual([{ from: 21n, to: 21n }]);
  });

  it('takes nothing without waiting once it is retired', async () => {
    const { buffer } = await loaded();
    expect(buffer.tryRanges(1)).toEqual([{ from: 4n, to: 4n }]);
    void buffer.retire(stopping);
    expect(buffer.tryRanges(1)).toBeUndefined();
  });

  it.each([
    ['is silent', (rig: SegmentRig) => rig.store.hold()],
    ['fails', (rig: SegmentRig) => rig.store.breakDown()],
  ])('serves every buffered ID while a store that %s keeps a larger range waiting', async (_, spoil) => {
    const { rig, buffer } = await loaded();
    spoil(rig);
    const range = watch(buffer.takeRanges(1000));
    await rig.settle();
    expect(buffer.tryRanges(5)).toEqual([{ from: 4n, to: 8n }]);
    expect(Array.from({ length: 12 }, () => buffer.tryNext())).toEqual(idsOf({ from: 9n, to: 20n }));
    expect(buffer.tryNext()).toBeUndefined();
    expect(range.settled).toBe(false);
    await rig.clock.advance(rig.options.waitMs);
    expect(range.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
  });

  it('serves single calls before, during and after a range larger than the buffer, without one that waits', async () => {
    const { rig, buffer } = await loaded();
    rig.store.hold();
    const range = watch(buffer.takeRanges(30));
    expect([buffer.tryNext(), buffer.tryNext()]).toEqual([4n, 5n]);
    rig.store.release();
    rig.store.hold();
    await rig.settle();
    expect(idsOf(...range.value!)).toEqual(idsOf({ from: 6n, to: 35n }));
    expect(Array.from({ length: 15 }, () => buffer.tryNext())).toEqual(idsOf({ from: 36n, to: 50n }));
  });

  it('loads as many IDs as asked for by one allocation, and keeps as many as it had', async () => {
    const { rig, buffer } = await loaded();
    await expect(buffer.takeRanges(500)).resolves.toEqual([
      { from: 4n, to: 10n },
      { from: 11n, to: 20n },
      { from: 21n, to: 503n },
    ]);
    expect(rig.store.granted[2]).toEqual({ tag: TAG, from: 21n, to: 520n, exact: true });
    expect(buffer.buffered).toBe(17);
    expect(await buffer.take()).toBe(504n);
  });

  it('a first call takes exactly what it wants', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    await expect(buffer.takeRanges(1_000_000)).resolves.toEqual([{ from: 1n, to: 1_000_000n }]);
    expect(await buffer.take()).toBe(1_000_001n);
  });

  it('prefetches after it has used up what was there', async () => {
    const rig = new SegmentRig(100);
    const buffer = rig.buffer();
    await buffer.take();
    await expect(buffer.takeRanges(9)).resolves.toEqual([{ from: 2n, to: 10n }]);
    expect(rig.store.count('allocate')).toBe(2);
    await rig.settle();
    await expect(buffer.takeRanges(200)).resolves.toHaveLength(3);
    expect(rig.store.count('allocate')).toBe(4);
    await rig.settle();
    expect(buffer.tryNext()).toBeDefined();
  });

  it('prefetches after it has used up its share of the next segment', async () => {
    const rig = new SegmentRig(100);
    const buffer = rig.buffer();
    await takeMany(buffer, 11);
    await rig.settle();
    await expect(buffer.takeRanges(89 + 15)).resolves.toHaveLength(2);
    expect(rig.store.count('allocate')).toBe(3);
  });

  it.each([1, 2, 7, 8, 17, 18, 40])('sizes add up and ascend, asked for %d at a time', async (count) => {
    const { buffer } = await loaded();
    const all: IdRange[] = [];
    for (let i = 0; i < 12; i++) {
      const ranges = await buffer.takeRanges(count);
      expect(ranges.reduce((sum, range) => sum + sizeOf(range), 0)).toBe(count);
      all.push(...ranges, ...(await buffer.takeRanges(1)));
    }
    expect(idsOf(...all)).toEqual(idsOf({ from: 4n, to: 3n + 12n * BigInt(count + 1) }));
  });

  it('waits for a load under way before it takes more', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.hold();
    const single = watch(buffer.take());
    const range = watch(buffer.takeRanges(5));
    expect(rig.store.held).toHaveLength(1);
    rig.store.release();
    await rig.settle();
    expect(single.value).toBe(1n);
    expect(range.value).toEqual([{ from: 2n, to: 6n }]);
  });

  it('singles and ranges, mixed while loads are on their way, ascend from answer to answer', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.hold();
    let round: IdRange[] = [];
    let wanted = 0;
    for (let i = 0; i < 60; i++) {
      const count = i % 3 === 0 ? 1 + ((i * 7) % 25) : 1;
      const call = i % 3 === 0 ? buffer.takeRanges(count) : buffer.take().then((id) => [{ from: id, to: id }]);
      void call.then((ranges) => round.push(...ranges));
      wanted += count;
    }
    const ids: bigint[] = [];
    for (let answers = 0; answers < 60 && ids.length < wanted; answers++) {
      rig.store.held[0]!.answer();
      await rig.settle();
      ids.push(...idsOf(...round).sort((a, b) => Number(a - b)));
      round = [];
    }
    expect(ids).toEqual(idsOf({ from: 1n, to: BigInt(wanted) }));
    expect(rig.store.peak).toBe(1);
  });

  it('answers a range before the calls that found the buffer empty meanwhile', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.hold();
    const range = watch(buffer.takeRanges(30));
    const singles = [watch(buffer.take()), watch(buffer.take())];
    await rig.settle();
    expect(rig.store.held).toHaveLength(1);
    rig.store.release();
    await rig.settle();
    expect(range.value).toEqual([{ from: 1n, to: 30n }]);
    expect(singles.map((call) => call.value)).toEqual([31n, 32n]);
    expect(rig.store.peak).toBe(1);
  });

  it('a refused allocation leaves the buffered IDs, in order', async () => {
    const { rig, buffer } = await loaded();
    rig.store.put(TAG, 2n ** 63n - 5n, 10);
    const waiting = [watch(buffer.takeRanges(1000)), watch(buffer.take()), watch(buffer.takeRanges(8))];
    await rig.settle();
    expect(waiting[0]!.code).toBe('LEAF_TAG_EXHAUSTED');
    expect(waiting[1]!.value).toBe(4n);
    expect(waiting[2]!.value).toEqual([
      { from: 5n, to: 10n },
      { from: 11n, to: 12n },
    ]);
    expect(await takeMany(buffer, 8)).toEqual(idsOf({ from: 13n, to: 20n }));
  });

  it('retries an allocation with back-off until the wait limit', async () => {
    const { rig, buffer } = await loaded();
    rig.store.failNext(3);
    const call = watch(buffer.takeRanges(30));
    await rig.clock.advance(500);
    expect(idsOf(...call.value!)).toEqual(idsOf({ from: 4n, to: 33n }));
  });

  it('is refused at its wait limit and leaves the buffered IDs', async () => {
    const { rig, buffer } = await loaded();
    rig.store.breakDown();
    const call = watch(buffer.takeRanges(30));
    await rig.clock.advance(999);
    expect(call.settled).toBe(false);
    await rig.clock.advance(1);
    expect(call.error).toMatchObject({ code: 'LEAF_SEGMENT_UNAVAILABLE', retryAfterMs: 1000 });
    expect(await takeMany(buffer, 10)).toEqual(idsOf({ from: 4n, to: 13n }));
  });

  it('stops after the next try when nobody waits any more', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.breakDown();
    const call = watch(buffer.takeRanges(30));
    await rig.clock.advance(1000);
    expect(call.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
    const calls = rig.store.calls.length;
    await rig.clock.advance(5000);
    expect(rig.store.calls).toHaveLength(calls + 1);
    expect(buffer.snapshot().loading).toBe(false);
    expect(rig.clock.sleeping).toBe(0);
  });

  it('an allocation that answers after the wait limit is kept for the next callers', async () => {
    const rig = new SegmentRig(10, { prefetchRatio: 1 });
    const buffer = rig.buffer();
    await takeMany(buffer, 3);
    await refusedRange({ rig, buffer }, 12);
    expect(await takeMany(buffer, 2)).toEqual([4n, 5n]);
    rig.store.release();
    await rig.settle();
    expect(await takeMany(buffer, 10)).toEqual(idsOf({ from: 6n, to: 15n }));
    expect(rig.store.count('allocate')).toBe(2);
  });

  it('an allocation that answers late to an empty buffer is kept', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    await refusedRange({ rig, buffer }, 12);
    const waiting = watch(buffer.takeRanges(4));
    expect(rig.store.held).toHaveLength(1);
    rig.store.release();
    await rig.settle();
    expect(waiting.value).toEqual([{ from: 1n, to: 4n }]);
    expect(await takeMany(buffer, 8)).toEqual(idsOf({ from: 5n, to: 12n }));
  });

  it('while a refused range still allocates, nobody else does', async () => {
    const { rig, buffer } = await loaded();
    await refusedRange({ rig, buffer }, 40);
    expect(await takeMany(buffer, 17)).toEqual(idsOf({ from: 4n, to: 20n }));
    const single = watch(buffer.take());
    const range = watch(buffer.takeRanges(100));
    expect(rig.store.held).toHaveLength(1);
    rig.store.release();
    await rig.settle();
    expect(single.value).toBe(21n);
    expect(idsOf(...range.value!)).toEqual(idsOf({ from: 22n, to: 121n }));
    expect(rig.store.peak).toBe(1);
  });

  it('an allocation that fails after the wait limit changes nothing', async () => {
    const { rig, buffer } = await loaded();
    await refusedRange({ rig, buffer }, 40);
    expect(await buffer.take()).toBe(4n);
    rig.store.held[0]!.fail();
    await rig.settle();
    rig.store.release();
    expect(await takeMany(buffer, 17)).toEqual(idsOf({ from: 5n, to: 21n }));
  });

  it.each([
    ['an answer', (rig: SegmentRig) => rig.store.release()],
    ['a refusal', (rig: SegmentRig) => rig.store.held[0]?.fail(new Error('bug'))],
  ])('%s at the very moment of the wait limit loses no ID and issues none twice', async (_, answer) => {
    for (let turns = 0; turns < 12; turns++) {
      const rig = new SegmentRig(10, { prefetchRatio: 1 });
      const clock = new HurriedClock(turns);
      const buffer = new DoubleBuffer(TAG, { ...rig.context, clock });
      await takeMany(buffer, 3);
      rig.store.hold();
      const call = watch(buffer.takeRanges(12));
      clock.onWake = () => answer(rig);
      await clock.advance(1000);
      clock.onWake = () => undefined;
      rig.store.release();
      const ids = idsOf(...(call.value ?? []));
      expect(call.settled).toBe(true);
      expect([...ids, ...(await takeMany(buffer, 15))]).toEqual(idsOf({ from: 4n, to: BigInt(18 + ids.length) }));
    }
  });

  it('a range of a store that went backwards is refused, repaired and taken anew', async () => {
    const { rig, buffer } = await loaded();
    rig.store.put(TAG, 1n, 10);
    const call = watch(buffer.takeRanges(20));
    await rig.clock.advance(1000);
    expect(idsOf(...call.value!)).toEqual(idsOf({ from: 4n, to: 23n }));
    expect(rig.store.count('raise')).toBe(1);
  });
});
