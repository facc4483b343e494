import { LeafError } from '../../errors/leaf-error';
import { idsOf, SegmentRig, TAG, takeMany } from '../../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../../test/support/watch';

describe('DoubleBuffer, with a store that fails', () => {
  it('keeps serving while a failed prefetch is retried with back-off', async () => {
    const rig = new SegmentRig(100);
    const buffer = rig.buffer();
    await takeMany(buffer, 10);
    rig.store.breakDown();
    expect(await buffer.take()).toBe(11n);
    const tries: number[] = [];
    for (let passed = 0; passed < 10; passed++) {
      tries.push(rig.store.count('allocate') - 1);
      expect(buffer.tryNext()).toBeDefined();
      await rig.clock.advance(250);
    }
    expect(tries[0]).toBe(1);
    expect(tries.at(-1)).toBeLessThan(10);
    expect(tries.at(-1)).toBeGreaterThan(5);
    expect(rig.store.peak).toBe(1);
    rig.store.heal();
    await rig.clock.advance(1000);
    expect(buffer.snapshot()).toMatchObject({ next: { from: 101n, to: 200n }, loading: false });
    const rest = await takeMany(buffer, 100);
    expect(rest.slice(-1)).toEqual([rest[0]! + 99n]);
  });

  it('waits longer after each attempt, up to a second', async () => {
    const rig = new SegmentRig(100);
    const buffer = rig.buffer();
    rig.store.breakDown();
    void buffer.tryNext();
    await rig.settle();
    const waits: number[] = [];
    let since = 0;
    for (let passed = 0; passed < 5000; passed += 5) {
      const before = rig.store.count('allocate');
      await rig.clock.advance(5);
      since += 5;
      if (rig.store.count('allocate') === before) continue;
      waits.push(since);
      since = 0;
    }
    expect(waits.slice(0, 7)).toEqual([25, 50, 100, 200, 400, 500, 500]);
  });

  it('stops trying after a while when no call waits, and starts again with the next call', async () => {
    const rig = new SegmentRig(100);
    const buffer = rig.buffer();
    rig.store.breakDown();
    void buffer.tryNext();
    await rig.clock.advance(9000);
    const tries = rig.store.count('allocate');
    await rig.clock.advance(2000);
    expect(rig.store.count('allocate')).toBeGreaterThan(tries);
    expect(buffer.snapshot().loading).toBe(false);
    const stopped = rig.store.count('allocate');
    await rig.clock.advance(60_000);
    expect(rig.store.count('allocate')).toBe(stopped);
    rig.store.heal();
    expect(buffer.tryNext()).toBeUndefined();
    await rig.settle();
    expect(buffer.tryNext()).toBe(1n);
  });

  it('a waiting call immediately restarts a load that was given up', async () => {
    const rig = new SegmentRig(100);
    const buffer = rig.buffer();
    rig.store.breakDown();
    void buffer.tryNext();
    while (buffer.snapshot().loading) await rig.clock.advance(100);
    rig.store.heal();
    expect(buffer.tryNext()).toBeUndefined();
    expect(buffer.snapshot().loading).toBe(false);
    const call = watch(buffer.take());
    await rig.settle();
    expect(call.value).toBe(1n);
  });

  it('retries as long as calls wait', async () => {
    const rig = new SegmentRig(100, { waitMs: 20_000 });
    const buffer = rig.buffer();
    rig.store.breakDown();
    const call = watch(buffer.take());
    await rig.clock.advance(19_000);
    expect(call.settled).toBe(false);
    rig.store.heal();
    await rig.clock.advance(1000);
    expect(call.value).toBe(1n);
  });

  it('fetches ahead again after an outage, from the next call on', async () => {
    const rig = new SegmentRig(100);
    const buffer = rig.buffer();
    await takeMany(buffer, 10);
    rig.store.breakDown();
    expect(buffer.tryNext()).toBe(11n);
    await rig.clock.advance(60_000);
    expect(buffer.snapshot().loading).toBe(false);
    rig.store.heal();
    expect(buffer.tryNext()).toBe(12n);
    await rig.settle();
    expect(buffer.snapshot().next).toMatchObject({ from: 101n, to: 200n });
  });

  it('retries only a few of many tags when no call waits', async () => {
    const rig = new SegmentRig(100);
    const tags = Array.from({ length: 200 }, (_, index) => `t${index}`);
    for (const tag of tags) rig.store.put(tag, 1n, 100);
    const generator = rig.generator();
    await generator.refresh.run();
    rig.store.breakDown();
    for (const tag of tags) generator.tryNext(tag);
    await rig.settle();
    const first = rig.store.count('allocate');
    for (let second = 0; second < 20; second++) {
      for (const tag of tags) generator.tryNext(tag);
      await rig.clock.advance(1000);
    }
    expect(first).toBe(tags.length);
    expect(rig.store.count('allocate') - first).toBeLessThan(20 * 32 * 4);
    rig.store.heal();
    const calls = tags.map((tag) => watch(generator.next(tag)));
    await rig.clock.advance(1000);
    expect(calls.map(({ value }) => value)).toEqual(tags.map(() => 1n));
    await generator.close();
  });

  it('waiting callers are refused at their wait limit, after one load', async () => {
    const rig = new SegmentRig(10, { waitMs: 1000 });
    const buffer = rig.buffer();
    rig.store.hold();
    const early = Array.from({ length: 20 }, () => watch(buffer.take()));
    await rig.clock.advance(400);
    const late = watch(buffer.take());
    await rig.clock.advance(599);
    expect(early.some((call) => call.settled)).toBe(false);
    await rig.clock.advance(1);
    for (const call of early) {
      expect(call.error).toMatchObject({
        code: 'LEAF_SEGMENT_UNAVAILABLE',
        retryAfterMs: 1000,
        message: expect.stringContaining(`Tag "${TAG}" has no ID after 1000 ms`),
      });
    }
    expect(late.settled).toBe(false);
    await rig.clock.advance(400);
    expect(late.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
    expect(rig.store.count('allocate')).toBe(1);
  });

  it('newer callers evict older ones while the store is late', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.hold();
    const early = Array.from({ length: 256 }, () => watch(buffer.take()));
    await rig.clock.advance(rig.options.waitMs / 2);
    const late = watch(buffer.take());
    await rig.settle();
    for (const call of early) {
      expect(call.error).toMatchObject({
        code: 'LEAF_OVERLOADED',
        retryAfterMs: 1000,
        message: expect.stringContaining(`IDs of tag "${TAG}"`),
      });
    }
    rig.store.release();
    await rig.settle();
    expect(late.value).toBe(1n);
  });

  it('continues the load of refused callers', async () => {
    const rig = new SegmentRig(10, { waitMs: 1000 });
    const buffer = rig.buffer();
    rig.store.hold();
    const refused = watch(buffer.take());
    await rig.clock.advance(1000);
    expect(refused.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
    rig.store.release();
    await rig.settle();
    expect(await buffer.take()).toBe(1n);
    expect(rig.store.granted[0]).toMatchObject({ from: 1n, to: 10n });
  });

  it('carries the cause of the refusal', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    const cause = new LeafError('LEAF_STORE_UNAVAILABLE', 'gone');
    rig.store.breakDown(cause);
    const call = watch(buffer.take());
    await rig.clock.advance(1000);
    expect(call.error).toMatchObject({ code: 'LEAF_SEGMENT_UNAVAILABLE', cause });
  });

  it('serves again after the store heals, without a gap', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    await takeMany(buffer, 1);
    rig.store.breakDown();
    await takeMany(buffer, 9);
    const refused = Array.from({ length: 5 }, () => watch(buffer.take()));
    await rig.clock.advance(30_000);
    expect(refused.map((call) => call.code)).toEqual(Array.from({ length: 5 }, () => 'LEAF_SEGMENT_UNAVAILABLE'));
    expect(rig.store.count('allocate')).toBeLessThan(80);
    rig.store.heal();
    const waiting = watch(takeMany(buffer, 3));
    await rig.clock.advance(1000);
    expect(waiting.value).toEqual([11n, 12n, 13n]);
    expect(rig.store.peak).toBe(1);
  });

  it('reports a plain error of the store as unavailable, without an immediate retry', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    const cause = new TypeError('bug');
    rig.store.failNext(1, cause);
    await expect(buffer.take()).rejects.toMatchObject({ code: 'LEAF_SEGMENT_UNAVAILABLE', cause });
    await expect(buffer.take()).rejects.toMatchObject({ code: 'LEAF_SEGMENT_UNAVAILABLE' });
    expect(rig.store.count('allocate')).toBe(1);
    await rig.clock.advance(1000);
    expect(await buffer.take()).toBe(1n);
  });

  it.each([
    ['LEAF_TAG_NOT_FOUND', (rig: SegmentRig) => rig.store.rows.delete(TAG)],
    ['LEAF_TAG_ROW_INVALID', (rig: SegmentRig) => rig.store.put(TAG, 11n, 0)],
    ['LEAF_TAG_EXHAUSTED', (rig: SegmentRig) => rig.store.put(TAG, 2n ** 63n - 1n, 10)],
  ])('refuses with %s from memory for a second', async (code, spoil) => {
    const rig = new SegmentRig(10, { prefetchRatio: 1 });
    const buffer = rig.buffer();
    await takeMany(buffer, 10);
    spoil(rig);
    const together = Array.from({ length: 5 }, () => watch(buffer.take()));
    await rig.settle();
    expect(together.map((call) => call.code)).toEqual(Array.from({ length: 5 }, () => code));
    await rig.clock.advance(999);
    await expect(buffer.take()).rejects.toMatchObject({ code });
    await expect(buffer.takeRanges(3)).rejects.toMatchObject({ code });
    expect(buffer.tryNext()).toBeUndefined();
    expect(rig.store.count('allocate')).toBe(2);
    expect(rig.clock.sleeping).toBe(0);

    rig.store.put(TAG, 11n, 10);
    await rig.clock.advance(1);
    expect(await buffer.take()).toBe(11n);
    expect(rig.store.count('allocate')).toBe(3);
  });

  it('refuses ranges again after the second, and asks the store', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.rows.delete(TAG);
    await expect(buffer.take()).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    await rig.clock.advance(1000);
    await expect(buffer.takeRanges(3)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    rig.store.put(TAG, 1n, 10);
    await expect(buffer.takeRanges(3)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    expect(rig.store.count('allocate')).toBe(2);
    await rig.clock.advance(1000);
    await expect(buffer.takeRanges(3)).resolves.toEqual([{ from: 1n, to: 3n }]);
  });

  it('a deleted row does not affect the buffered IDs', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    await takeMany(buffer, 2);
    await rig.settle();
    rig.store.rows.delete(TAG);
    expect(await takeMany(buffer, 18)).toEqual(idsOf({ from: 3n, to: 20n }));
    await expect(buffer.take()).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
  });
});
