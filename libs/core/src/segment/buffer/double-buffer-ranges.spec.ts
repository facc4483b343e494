import { idsOf, SegmentRig, stopping, TAG, takeMany } from '../../../../../test/support/fakes/segment-rig';
import { watch, type Watched } from '../../../../../test/support/watch';
import { FakeClock } from '../../clock/fake-clock';
import { DoubleBuffer } from './double-buffer';
import type { IdRange } from '../tags/id-range';

interface Loaded {
  readonly rig: SegmentRig;
  readonly buffer: DoubleBuffer;
}

/** A clock that runs an action when a sleep ends, some turns of the event loop before the sleeper wakes. */
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

/** Calls `takeRanges` with a store that delays its reply, and waits until the call is refused. */
async function refusedRange({ rig, buffer }: Loaded, count: number): Promise<Watched<IdRange[]>> {
  rig.store.hold();
  const call = watch(buffer.takeRanges(count));
  await rig.clock.advance(rig.options.waitMs);
  expect(call.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
  return call;
}

describe('DoubleBuffer, ranges', () => {
  it('takes buffered IDs without a call to the store', async () => {
    const { rig, buffer } = await loaded();
    rig.store.breakDown();
    const calls = rig.store.calls.length;
    await expect(buffer.takeRanges(2)).resolves.toEqual([{ from: 4n, to: 5n }]);
    await expect(buffer.takeRanges(5)).resolves.toEqual([{ from: 6n, to: 10n }]);
    expect(rig.store.calls).toHaveLength(calls);
  });

  it('uses several allocations if the store returns fewer IDs than requested', async () => {
    const { rig, buffer } = await loaded();
    rig.store.most = 4;
    const ranges = watch(buffer.takeRanges(20));
    await rig.settle();
    expect(idsOf(...ranges.value!)).toEqual(idsOf({ from: 4n, to: 23n }));
    expect(buffer.buffered).toBe(17);
    expect(await takeMany(buffer, 17)).toEqual(idsOf({ from: 24n, to: 40n }));
  });

  it.each([
    ['answers', 2, (rig: SegmentRig) => rig.store.release()],
    ['fails', 1, (rig: SegmentRig) => rig.store.held[0]!.fail()],
  ])('keeps what was loaded for a call that gave up before the next allocation %s', async (_, done, end) => {
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
    end(rig);
    await rig.settle();
    const kept = 17 + done * 4;
    expect(buffer.buffered).toBe(kept);
    rig.store.release();
    expect(await takeMany(buffer, kept)).toEqual(idsOf({ from: 4n, to: BigInt(3 + kept) }));
  });

  it.each([2, 8])('takes %d of 8 without waiting for the load in progress', async (count) => {
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

  it('takes a range across two segments', async () => {
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

  it('takes buffered IDs without waiting, or none if there are too few', async () => {
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

  it('serves single calls before, during and after a range larger than the buffer, without waiting', async () => {
    const { rig, buffer } = await loaded();
    rig.store.hold();
    const range = watch(buffer.takeRanges(30));
    expect([buffer.tryNext(), buffer.tryNext()]).toEqual([4n, 5n]);
    await rig.settle();
    rig.store.release();
    rig.store.hold();
    await rig.settle();
    expect(idsOf(...range.value!)).toEqual(idsOf({ from: 6n, to: 35n }));
    expect(Array.from({ length: 15 }, () => buffer.tryNext())).toEqual(idsOf({ from: 36n, to: 50n }));
  });

  it('loads the requested IDs in one allocation, and keeps its fill level', async () => {
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

  it('prefetches after it has used up the buffer', async () => {
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

  it('serves a range before later calls that found the buffer empty', async () => {
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

  it('stops after the next attempt when no call waits any more', async () => {
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

  it('keeps an allocation that completes after the wait limit for the next callers', async () => {
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

  it('refuses a range of a store that went backwards, repairs the row and allocates again', async () => {
    const { rig, buffer } = await loaded();
    rig.store.put(TAG, 1n, 10);
    const call = watch(buffer.takeRanges(20));
    await rig.clock.advance(1000);
    expect(idsOf(...call.value!)).toEqual(idsOf({ from: 4n, to: 23n }));
    expect(rig.store.count('raise')).toBe(1);
  });
});

describe('DoubleBuffer, ranges that are refused', () => {
  it('keeps a late allocation behind two segments', async () => {
    const { rig, buffer } = await loaded();
    rig.store.hold();
    watch(buffer.takeRanges(30));
    await rig.clock.advance(1000);
    rig.store.release();
    await rig.settle();
    expect(buffer.snapshot()).toMatchObject({
      current: { from: 1n, to: 10n, position: 4n },
      next: { from: 11n, to: 20n },
      spare: [{ from: 21n, to: 50n }],
    });
    expect(idsOf(...(await buffer.takeRanges(20)))).toEqual(idsOf({ from: 4n, to: 23n }));
  });

  it('issues no ID of a load that completes after the buffer was retired', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.hold();
    buffer.tryNext();
    await rig.settle();
    const rest = watch(buffer.retire(stopping));
    rig.store.release();
    for (let turn = 0; turn < 20; turn++) {
      await Promise.resolve();
      expect(buffer.tryNext()).toBeUndefined();
    }
    await rig.settle();
    expect(rest.value).toEqual([{ from: 1n, to: 10n }]);
  });

  it('does not sit out the back-off of a range when the generator closes', async () => {
    const { rig, buffer } = await loaded();
    rig.store.hold();
    rig.store.breakDown();
    const range = watch(buffer.takeRanges(30));
    await rig.settle();
    expect(range.settled).toBe(false);
    rig.closing.abort();
    await rig.settle();
    expect(range.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
    expect(rig.clock.sleeping).toBe(0);
    expect(await takeMany(buffer, 17)).toEqual(idsOf({ from: 4n, to: 20n }));
  });

  it('prefetches again when the load of a refused range has ended', async () => {
    const rig = new SegmentRig(100);
    const buffer = rig.buffer();
    await takeMany(buffer, 1);
    rig.store.breakDown();
    const range = watch(buffer.takeRanges(1000));
    await rig.clock.advance(2000);
    expect(range.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
    expect(buffer.snapshot().loading).toBe(false);
    rig.store.heal();
    await takeMany(buffer, 10);
    await rig.settle();
    expect(buffer.snapshot().next).toMatchObject({ from: 101n });
  });

  it('gives a small range of a tag that had too few IDs for a large one', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    const from = 2n ** 63n - 20n;
    rig.store.put(TAG, from, 10);
    await expect(buffer.takeRanges(1000)).rejects.toMatchObject({ code: 'LEAF_TAG_EXHAUSTED' });
    await expect(buffer.takeRanges(5)).resolves.toEqual([{ from, to: from + 4n }]);
  });

  it('tries a refused prefetch again before all is used up', async () => {
    const rig = new SegmentRig(100);
    const buffer = rig.buffer();
    await takeMany(buffer, 10);
    rig.store.failNext(1, new Error('one bad moment'));
    await takeMany(buffer, 1);
    await rig.clock.advance(5000);
    await takeMany(buffer, 50);
    await rig.settle();
    expect(buffer.snapshot().next).toBeDefined();
  });
});
