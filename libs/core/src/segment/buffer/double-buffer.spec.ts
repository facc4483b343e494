import { idsOf, SegmentRig, stopping, TAG, takeMany } from '../../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../../test/support/watch';

/** Takes `count` IDs that must all be there without waiting. */
function takeBuffered(source: { tryNext(): bigint | undefined }, count: number): bigint[] {
  return Array.from({ length: count }, () => {
    const id = source.tryNext();
    if (id === undefined) throw new Error('had to wait');
    return id;
  });
}

describe('DoubleBuffer, serving', () => {
  it('the row (1, 2000) gives 1 to 2000 first', async () => {
    const rig = new SegmentRig(2000);
    const buffer = rig.buffer();
    expect(await takeMany(buffer, 2000)).toEqual(idsOf({ from: 1n, to: 2000n }));
    expect(await buffer.take()).toBe(2001n);
  });

  it('sends no request to the store before the first call', async () => {
    const rig = new SegmentRig();
    rig.buffer();
    await rig.settle();
    expect(rig.store.calls).toStrictEqual([]);
  });

  it('tryNext starts the first load, and returns an ID when it has completed', async () => {
    const rig = new SegmentRig(2000);
    const buffer = rig.buffer();
    expect(buffer.tryNext()).toBeUndefined();
    expect(buffer.tryNext()).toBeUndefined();
    await rig.settle();
    expect(buffer.tryNext()).toBe(1n);
    expect(rig.store.count('allocate')).toBe(1);
  });

  it('prefetches once, when a tenth is used', async () => {
    const rig = new SegmentRig(2000);
    const buffer = rig.buffer();
    await takeMany(buffer, 200);
    await rig.settle();
    expect(rig.store.count('allocate')).toBe(1);
    takeBuffered(buffer, 1);
    expect(rig.store.count('allocate')).toBe(2);
    await rig.settle();
    takeBuffered(buffer, 1799);
    await rig.settle();
    expect(rig.store.count('allocate')).toBe(2);
  });

  it('prefetches once while the prefetch is on its way', async () => {
    const rig = new SegmentRig(2000);
    const buffer = rig.buffer();
    await buffer.take();
    rig.store.hold();
    takeBuffered(buffer, 1999);
    expect(rig.store.held).toHaveLength(1);
    expect(buffer.tryNext()).toBeUndefined();
    expect(rig.store.held).toHaveLength(1);
  });

  it('prefetches once for each segment', async () => {
    const rig = new SegmentRig(100, { maxStep: 100 });
    const buffer = rig.buffer();
    await buffer.take();
    for (let used = 1; used < 1000; used++) {
      takeBuffered(buffer, 1);
      await rig.settle();
      expect(rig.store.count('allocate')).toBe(1 + Math.ceil((used + 1 - 10) / 100));
    }
  });

  it('a switch needs no call of the store', async () => {
    const rig = new SegmentRig(2000);
    const buffer = rig.buffer();
    await takeMany(buffer, 201);
    await rig.settle();
    const calls = rig.store.calls.length;
    rig.store.breakDown();
    expect(takeBuffered(buffer, 2000)).toEqual(idsOf({ from: 202n, to: 2201n }));
    expect(rig.store.calls).toHaveLength(calls + 1);
  });

  it.each([
    ['0.5', 0.5, 10, 5],
    ['0.9', 0.9, 10, 9],
    ['0.001', 0.001, 1000, 1],
    ['0.1 of few', 0.1, 4, 0],
    ['0.1 of one', 0.1, 1, 0],
  ])('prefetchRatio %s', async (_, prefetchRatio, step, free) => {
    const rig = new SegmentRig(step, { prefetchRatio });
    const buffer = rig.buffer();
    expect(buffer.tryNext()).toBeUndefined();
    await rig.settle();
    takeBuffered(buffer, free);
    expect(rig.store.count('allocate')).toBe(1);
    takeBuffered(buffer, 1);
    expect(rig.store.count('allocate')).toBe(2);
  });

  it('prefetchRatio 1 loads when all is used up', async () => {
    const rig = new SegmentRig(10, { prefetchRatio: 1, maxStep: 10 });
    const buffer = rig.buffer();
    await takeMany(buffer, 10);
    await rig.settle();
    expect(rig.store.count('allocate')).toBe(1);
    expect(await takeMany(buffer, 25)).toEqual(idsOf({ from: 11n, to: 35n }));
    expect(rig.store.count('allocate')).toBe(4);
  });

  it('doubles its step under load', async () => {
    const rig = new SegmentRig(10);
    await takeMany(rig.buffer(), 70);
    await rig.settle();
    expect(rig.store.granted.map(({ from, to }) => to - from + 1n)).toEqual([10n, 10n, 20n, 40n, 80n]);
  });

  it('many callers wait for one load and are served in their order', async () => {
    const rig = new SegmentRig(2000);
    const buffer = rig.buffer();
    rig.store.hold();
    const calls = Array.from({ length: 50 }, () => watch(buffer.take()));
    await rig.settle();
    expect(rig.store.held).toHaveLength(1);
    rig.store.release();
    await rig.settle();
    expect(calls.map((call) => call.value)).toEqual(idsOf({ from: 1n, to: 50n }));
    expect(rig.store.count('allocate')).toBe(1);
  });

  it('more callers than a segment holds wait for the load after it', async () => {
    const rig = new SegmentRig(10, { maxStep: 10 });
    const buffer = rig.buffer();
    const calls = Array.from({ length: 35 }, () => watch(buffer.take()));
    await rig.settle();
    expect(calls.map((call) => call.value)).toEqual(idsOf({ from: 1n, to: 35n }));
    expect(rig.store.peak).toBe(1);
  });
});

describe('DoubleBuffer, snapshot', () => {
  it('of an unused buffer', () => {
    expect(new SegmentRig().buffer().snapshot()).toEqual({
      tag: TAG,
      order: 'relaxed',
      issued: 0,
      buffered: 0,
      current: undefined,
      next: undefined,
      spare: [],
      loading: false,
      step: 0,
      databaseStep: 0,
      loads: 0,
      failures: 0,
      retries: 0,
      backwards: 0,
      lastLoadMs: undefined,
      lastLoadAt: undefined,
      lastError: undefined,
    });
  });

  it('of a buffer in use', async () => {
    const rig = new SegmentRig(2000);
    const buffer = rig.buffer();
    await takeMany(buffer, 200);
    expect(buffer.snapshot()).toMatchObject({
      issued: 200,
      buffered: 1800,
      current: { from: 1n, to: 2000n, position: 201n },
      loading: false,
    });
    rig.store.hold();
    takeBuffered(buffer, 1);
    expect(buffer.snapshot()).toMatchObject({ next: undefined, loading: true, loads: 1 });
    rig.store.release();
    await rig.settle();
    expect(buffer.snapshot()).toMatchObject({
      current: { from: 1n, to: 2000n, position: 202n },
      next: { from: 2001n, to: 4000n, position: 2001n },
      loading: false,
      step: 2000,
      databaseStep: 2000,
      loads: 2,
      lastLoadAt: rig.clock.now(),
    });
    takeBuffered(buffer, 1799);
    expect(buffer.snapshot().current).toEqual({ from: 1n, to: 2000n, position: 2001n });
  });

  it('does not count the IDs of a range until it is returned', async () => {
    const rig = new SegmentRig(10, { prefetchRatio: 1 });
    const buffer = rig.buffer();
    await takeMany(buffer, 4);
    rig.store.hold();
    const range = watch(buffer.takeRanges(20));
    expect(buffer.snapshot()).toMatchObject({ issued: 4, buffered: 6 });
    rig.store.release();
    await rig.settle();
    expect(range.settled).toBe(true);
    expect(buffer.issued).toBe(24);
  });

  it('shows the newest failure until a load succeeds', async () => {
    const rig = new SegmentRig(2000);
    const buffer = rig.buffer();
    rig.store.breakDown();
    const call = watch(buffer.take());
    await rig.clock.advance(100);
    expect(buffer.snapshot()).toMatchObject({ loading: true, loads: 0, lastError: 'The memory does not answer.' });
    expect(buffer.snapshot().failures).toBeGreaterThan(1);
    rig.store.heal();
    await rig.clock.advance(900);
    expect(call.value).toBe(1n);
    expect(buffer.snapshot()).toMatchObject({ loading: false, lastError: undefined });
  });
});

describe('DoubleBuffer, retired', () => {
  it('returns the unissued ranges, newest first', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    await takeMany(buffer, 3);
    await rig.settle();
    await expect(buffer.retire(stopping)).resolves.toEqual([
      { from: 11n, to: 20n },
      { from: 4n, to: 10n },
    ]);
  });

  it('refuses every call with the reason', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    await takeMany(buffer, 3);
    await rig.settle();
    const calls = rig.store.calls.length;
    const reason = stopping();
    const retired = watch(buffer.retire(() => reason));
    expect(buffer.tryNext()).toBeUndefined();
    await expect(buffer.take()).rejects.toBe(reason);
    await expect(buffer.takeRanges(1)).rejects.toBe(reason);
    await expect(buffer.takeRanges(100)).rejects.toBe(reason);
    expect(retired.settled).toBe(true);
    expect(buffer.tryNext()).toBeUndefined();
    await expect(buffer.take()).rejects.toBe(reason);
    expect(rig.store.calls).toHaveLength(calls);
  });

  it('refuses waiting callers and hands back what arrives late', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.hold();
    const single = watch(buffer.take());
    const range = watch(buffer.takeRanges(15));
    await rig.settle();
    const reason = stopping();
    const rest = watch(buffer.retire(() => reason));
    await rig.settle();
    expect(rest.settled).toBe(false);
    rig.store.release();
    await rig.settle();
    expect(rest.value).toEqual([{ from: 1n, to: 10n }]);
    expect(single.error).toBe(reason);
    expect(range.error).toBe(reason);
    expect(rig.store.count('allocate')).toBe(1);
  });

  it('hands back a late prefetch before the older rest', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    await takeMany(buffer, 1);
    rig.store.hold();
    expect(takeBuffered(buffer, 3)).toEqual([2n, 3n, 4n]);
    const rest = watch(buffer.retire(stopping));
    rig.store.release();
    await rig.settle();
    expect(rest.value).toEqual([
      { from: 11n, to: 20n },
      { from: 5n, to: 10n },
    ]);
    expect(buffer.tryNext()).toBeUndefined();
  });

  it('gives up a failing load', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.hold();
    const call = watch(buffer.take());
    await rig.settle();
    const rest = watch(buffer.retire(stopping));
    rig.store.held[0]!.fail();
    await rig.settle();
    expect(rest.value).toStrictEqual([]);
    expect(call.code).toBe('LEAF_NOT_READY');
    expect(rig.clock.sleeping).toBe(0);
  });

  it('does not sit out the back-off when the generator closes', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.breakDown();
    const call = watch(buffer.take());
    await rig.settle();
    rig.closing.abort();
    const rest = watch(buffer.retire(stopping));
    await rig.settle();
    expect(rest.value).toStrictEqual([]);
    expect(call.code).toBe('LEAF_NOT_READY');
    expect(rig.clock.sleeping).toBe(0);
  });

  it('refuses a range whose allocation is in progress, and returns its IDs', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    await takeMany(buffer, 4);
    await rig.settle();
    rig.store.hold();
    const range = watch(buffer.takeRanges(20));
    await rig.settle();
    const rest = watch(buffer.retire(stopping));
    rig.store.release();
    await rig.settle();
    expect(range.code).toBe('LEAF_NOT_READY');
    expect(rest.value).toEqual([
      { from: 21n, to: 40n },
      { from: 11n, to: 20n },
      { from: 5n, to: 10n },
    ]);
    expect(rig.store.count('allocate')).toBe(3);
  });
});
