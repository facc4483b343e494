import { getEventListeners } from 'node:events';
import { LeafError, PLAIN_TAG } from '@leaf-ids/core';
import { idsOf, SegmentRig, TAG } from '../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../test/support/watch';
import type { SegmentIdGenerator } from './segment-id-generator';

function tagsOf(generator: SegmentIdGenerator): string[] {
  return generator.snapshot().map(({ tag }) => tag);
}

async function nextMany(generator: SegmentIdGenerator, tag: string, count: number): Promise<bigint[]> {
  const ids: bigint[] = [];
  for (let i = 0; i < count; i++) ids.push(await generator.next(tag));
  return ids;
}

describe('SegmentIdGenerator', () => {
  it('gives the IDs of each tag', async () => {
    const rig = new SegmentRig(2000);
    rig.store.put('user', 501n, 100);
    const generator = rig.generator();
    expect(await nextMany(generator, TAG, 3)).toEqual([1n, 2n, 3n]);
    expect(await nextMany(generator, 'user', 3)).toEqual([501n, 502n, 503n]);
    expect(await generator.takeRanges(TAG, 5)).toEqual([{ from: 4n, to: 8n }]);
    expect(generator.tryNext('user')).toBe(504n);
  });

  it('tryNext returns undefined for a tag without an earlier call', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    expect(generator.tryNext(TAG)).toBeUndefined();
    await rig.settle();
    expect(rig.store.calls).toStrictEqual([]);
    await generator.next(TAG);
    expect(generator.tryNext(TAG)).toBe(2n);
  });

  it.each(['', 'a b', "'; DROP TABLE leaf_alloc; --", 'x'.repeat(129)])('%j never reaches the store', async (tag) => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    rig.store.put(tag, 1n, 10);
    await expect(generator.next(tag)).rejects.toMatchObject({ code: 'LEAF_TAG_INVALID' });
    await expect(generator.takeRanges(tag, 2)).rejects.toMatchObject({ code: 'LEAF_TAG_INVALID' });
    expect(generator.tryNext(tag)).toBeUndefined();
    expect(rig.store.calls).toStrictEqual([]);
  });

  it('reports failed loads by tag', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.refresh.run();
    rig.store.breakDown();
    const call = watch(generator.next(TAG));
    await rig.clock.advance(1000);
    expect(call.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
    expect(rig.reports).toEqual([TAG]);
  });

  describe('tells which used tags refuse their calls', () => {
    const STRICT = { ...PLAIN_TAG, order: 'strict' as const };
    const DAILY = { ...PLAIN_TAG, reset: 'daily' as const };

    it('while no ID is buffered, and the latest load failed', async () => {
      const rig = new SegmentRig(2);
      rig.store.put('strict', 1n, 10, STRICT);
      rig.store.put('daily', 1n, 1, DAILY);
      rig.store.put('unused', 1n, 10);
      const generator = rig.generator();
      await generator.refresh.run();
      await nextMany(generator, TAG, 1);
      await generator.next('strict');
      await generator.takeInPeriod('daily', 1);
      await rig.settle();
      rig.store.breakDown();
      const calls = (): Promise<void>[] =>
        ['strict', TAG, TAG, TAG, TAG, TAG].map(
          (tag) => generator.next(tag).then(undefined, () => undefined) as Promise<void>,
        );
      await nextMany(generator, TAG, 1);
      expect(generator.failing).toBeUndefined();
      void calls();
      for (let call = 0; call < 4; call++) void generator.takeInPeriod('daily', 1).catch(() => undefined);
      await rig.clock.advance(5000);
      expect(generator.failing).toMatchObject({ count: 3, error: { code: 'LEAF_STORE_UNAVAILABLE' } });
      rig.store.heal();
      await rig.clock.advance(5000);
      await Promise.all(calls());
      await generator.takeInPeriod('daily', 5);
      expect(generator.failing).toBeUndefined();
    });

    it('until they are gone, or have had no calls for a minute', async () => {
      const rig = new SegmentRig();
      rig.store.put('other', 1n, 10);
      const generator = rig.generator();
      await generator.refresh.run();
      rig.store.breakDown();
      for (const tag of [TAG, 'other']) void generator.next(tag).catch(() => undefined);
      await rig.clock.advance(2000);
      expect(generator.failing).toMatchObject({ count: 2 });
      generator.remove('other');
      await rig.clock.advance(1000);
      expect(generator.failing).toMatchObject({ tag: TAG, count: 1 });
      await rig.clock.advance(59_000);
      expect(generator.failing).toBeDefined();
      await rig.clock.advance(20_000);
      expect(generator.failing).toBeUndefined();
    });

    it('but not if they are used up, or a call asks for more than is left', async () => {
      const rig = new SegmentRig();
      const generator = rig.generator();
      rig.store.breakDown(new LeafError('LEAF_TAG_EXHAUSTED', 'used up'));
      await generator.refresh.run();
      await expect(generator.next(TAG)).rejects.toMatchObject({ code: 'LEAF_TAG_EXHAUSTED' });
      expect(generator.failing).toBeUndefined();
    });
  });

  it('two generators in one process do not touch each other', async () => {
    const rig = new SegmentRig(10);
    const other = new SegmentRig(10);
    const [first, second, stranger] = [rig.generator(), rig.generator(), other.generator()];
    const ids: bigint[] = [];
    for (let i = 0; i < 25; i++) ids.push(await first.next(TAG), await second.next(TAG));
    expect(new Set(ids).size).toBe(50);
    expect(await nextMany(stranger, TAG, 3)).toEqual([1n, 2n, 3n]);
    await first.close();
    expect(await second.next(TAG)).toBeGreaterThan(0n);
    expect(await stranger.next(TAG)).toBe(4n);
    expect(other.store.givenBack).toStrictEqual([]);
  });
});

describe('SegmentIdGenerator, refresh', () => {
  it('adds the tags of the store and drops removed ones', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.refresh.run();
    expect(tagsOf(generator)).toEqual([TAG]);
    rig.store.rows.delete(TAG);
    rig.store.put('user', 1n, 10);
    await generator.refresh.run();
    expect(tagsOf(generator)).toEqual(['user']);
    expect(rig.store.count('findTag')).toBe(0);
  });

  it('adds tags without loading them, and skips invalid tags', async () => {
    const rig = new SegmentRig();
    rig.store.put('not a tag', 1n, 10);
    const generator = rig.generator();
    await generator.refresh.run();
    expect(tagsOf(generator)).toEqual([TAG]);
    expect(rig.store.count('allocate')).toBe(0);
  });

  it('drops all when the table is empty', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.next(TAG);
    rig.store.rows.clear();
    await generator.refresh.run();
    expect(tagsOf(generator)).toStrictEqual([]);
    await expect(generator.next(TAG)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
  });

  it('keeps the buffers of tags that stay', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.next(TAG);
    await generator.refresh.run();
    expect(generator.tryNext(TAG)).toBe(2n);
    expect(rig.store.count('allocate')).toBe(1);
  });

  it('refuses the callers of a dropped tag', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.refresh.run();
    rig.store.hold();
    const waiting = watch(generator.next(TAG));
    await rig.settle();
    rig.store.held[0]!.apply();
    const refresh = generator.refresh.run();
    rig.store.rows.delete(TAG);
    rig.store.held.find((call) => call.method === 'listTags')!.answer();
    await refresh;
    rig.store.release();
    await rig.settle();
    expect(waiting.code).toBe('LEAF_TAG_NOT_FOUND');
    expect(tagsOf(generator)).toStrictEqual([]);
  });

  it('changes nothing when the query fails', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.next(TAG);
    rig.store.put('user', 1n, 10);
    rig.store.rows.delete(TAG);
    rig.store.failNext(1);
    await generator.refresh.run();
    expect(tagsOf(generator)).toEqual([TAG]);
    expect(generator.tryNext(TAG)).toBe(2n);
    expect(rig.refreshFailures).toEqual([expect.objectContaining({ code: 'LEAF_STORE_UNAVAILABLE' })]);
    expect(generator.refresh.snapshot()).toMatchObject({ runs: 1, failures: 1 });
  });

  it('drops no tag while the query is in progress', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.next(TAG);
    rig.store.hold();
    void generator.refresh.run();
    await rig.settle();
    expect(generator.tryNext(TAG)).toBe(2n);
  });

  it('does not drop a tag that was admitted while the query ran', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    rig.store.hold();
    const refresh = generator.refresh.run();
    rig.store.held[0]!.apply();
    rig.store.put('late', 1n, 10);
    const call = watch(generator.next('late'));
    await rig.settle();
    rig.store.held[1]!.answer();
    await rig.settle();
    rig.store.held.find(({ method }) => method === 'allocate')!.answer();
    await rig.settle();
    expect(call.value).toBe(1n);
    rig.store.release();
    await refresh;
    expect(tagsOf(generator)).toEqual(expect.arrayContaining([TAG, 'late']));
    expect(generator.tryNext('late')).toBe(2n);
  });

  it('a tag that is inserted again continues above the issued IDs', async () => {
    const rig = new SegmentRig(10);
    const generator = rig.generator();
    const before = await nextMany(generator, TAG, 5);
    const row = rig.store.rows.get(TAG)!;
    rig.store.rows.delete(TAG);
    await generator.refresh.run();
    rig.store.rows.set(TAG, row);
    await generator.refresh.run();
    expect(await generator.next(TAG)).toBeGreaterThan(before.at(-1)!);
  });
});

describe('SegmentIdGenerator, close', () => {
  it('returns the unissued ranges, newest first', async () => {
    const rig = new SegmentRig(10);
    const generator = rig.generator();
    await nextMany(generator, TAG, 3);
    await rig.settle();
    expect(await generator.close()).toBe(17);
    expect(rig.store.givenBack).toEqual([
      { tag: TAG, from: 11n, to: 20n },
      { tag: TAG, from: 4n, to: 10n },
    ]);
    expect(rig.store.maxId(TAG)).toBe(4n);
    expect(await rig.generator().next(TAG)).toBe(4n);
  });

  it('stops when the row moved on', async () => {
    const rig = new SegmentRig(10);
    const generator = rig.generator();
    await nextMany(generator, TAG, 3);
    await rig.settle();
    await rig.store.allocate(TAG, 5);
    expect(await generator.close()).toBe(0);
    expect(rig.store.givenBack).toStrictEqual([]);
    expect(rig.store.count('giveBack')).toBe(1);
    expect(rig.store.maxId(TAG)).toBe(26n);
  });

  it('gives many tags back', async () => {
    const rig = new SegmentRig(10);
    const tags = Array.from({ length: 50 }, (_, i) => `tag-${i}`);
    for (const tag of tags) rig.store.put(tag, 1n, 10);
    const generator = rig.generator();
    for (const tag of tags) await generator.next(tag);
    await generator.close();
    expect(tags.map((tag) => rig.store.maxId(tag))).toEqual(tags.map(() => 2n));
  });

  it('waits for the allocations in progress and returns their IDs as well', async () => {
    const rig = new SegmentRig(10);
    const generator = rig.generator();
    await generator.next(TAG);
    rig.store.hold();
    expect(idsOf(...(await generator.takeRanges(TAG, 4)))).toEqual([2n, 3n, 4n, 5n]);
    const closed = watch(generator.close());
    await rig.settle();
    expect(closed.settled).toBe(false);
    rig.store.release();
    await rig.settle();
    expect(closed.settled).toBe(true);
    expect(closed.error).toBeUndefined();
    expect(rig.store.maxId(TAG)).toBe(6n);
  });

  it('refuses calls from then on, without a call of the store', async () => {
    const rig = new SegmentRig(10);
    const generator = rig.generator();
    await nextMany(generator, TAG, 3);
    const closed = generator.close();
    expect(generator.tryNext(TAG)).toBeUndefined();
    await expect(generator.next(TAG)).rejects.toMatchObject({
      code: 'LEAF_NOT_READY',
      retryAfterMs: 1000,
      message: expect.stringContaining('Leaf is stopping'),
    });
    await closed;
    const calls = rig.store.calls.length;
    await expect(generator.next(TAG)).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    await expect(generator.next('other')).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    await expect(generator.takeRanges(TAG, 3)).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    await generator.refresh.run();
    expect(rig.store.calls).toHaveLength(calls);
    expect(generator.snapshot()).toStrictEqual([]);
  });

  it('refuses callers that wait for an ID or a lookup', async () => {
    const rig = new SegmentRig(10);
    const generator = rig.generator();
    await generator.refresh.run();
    rig.store.put('user', 1n, 10);
    rig.store.hold();
    const calls = [watch(generator.next(TAG)), watch(generator.next('user')), watch(generator.takeRanges('user', 3))];
    const closed = watch(generator.close());
    rig.store.release();
    await rig.settle();
    expect(calls.map((call) => call.code)).toEqual(['LEAF_NOT_READY', 'LEAF_NOT_READY', 'LEAF_NOT_READY']);
    expect(closed.settled).toBe(true);
    expect(generator.snapshot()).toStrictEqual([]);
    expect(rig.store.maxId(TAG)).toBe(1n);
  });

  it('does not sit out the back-off of a failing load', async () => {
    const rig = new SegmentRig(10);
    const generator = rig.generator();
    await generator.refresh.run();
    rig.store.breakDown();
    const call = watch(generator.next(TAG));
    await rig.settle();
    const closed = watch(generator.close());
    await rig.settle();
    expect(closed.settled).toBe(true);
    expect(call.code).toBe('LEAF_NOT_READY');
    expect(rig.clock.sleeping).toBe(0);
  });

  it('a refresh in progress adds no tag after the close', async () => {
    const rig = new SegmentRig(10);
    const generator = rig.generator();
    rig.store.hold();
    void generator.refresh.run();
    const closed = watch(generator.close());
    await rig.settle();
    expect(closed.settled).toBe(false);
    rig.store.release();
    await rig.settle();
    expect(closed.settled).toBe(true);
    expect(generator.snapshot()).toStrictEqual([]);
  });

  it('closes once', async () => {
    const rig = new SegmentRig(10);
    const generator = rig.generator();
    await generator.next(TAG);
    expect(generator.close()).toBe(generator.close());
    await generator.close();
    expect(rig.store.count('giveBack')).toBe(1);
  });

  it('rejects when a give-back fails, and gives the other tags back', async () => {
    const rig = new SegmentRig(10);
    rig.store.put('user', 1n, 10);
    const generator = rig.generator();
    await generator.next(TAG);
    await generator.next('user');
    rig.store.failNext(1);
    await expect(generator.close()).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    expect(rig.store.maxId(TAG)).toBe(11n);
    expect(rig.store.maxId('user')).toBe(2n);
  });

  it('waits for the other give-backs when one fails, then rejects', async () => {
    const rig = new SegmentRig(10);
    const tags = ['a', 'b', 'c', 'd'];
    for (const tag of tags) rig.store.put(tag, 1n, 10);
    const generator = rig.generator();
    for (const tag of tags) await generator.next(tag);
    rig.store.hold();
    const closed = watch(generator.close());
    await rig.settle();
    rig.store.held[0]!.fail();
    await rig.settle();
    expect([closed.settled, rig.store.held.length]).toEqual([false, 3]);
    rig.store.release();
    await rig.settle();
    expect(closed.code).toBe('LEAF_STORE_UNAVAILABLE');
    expect(tags.map((tag) => rig.store.maxId(tag))).toEqual([11n, 2n, 2n, 2n]);
  });

  it('waits for every allocation in progress, even after a failure', async () => {
    const rig = new SegmentRig(10);
    const tags = Array.from({ length: 8 }, (_, index) => `t${index}`);
    for (const tag of [...tags, 'slow']) rig.store.put(tag, 1n, 10);
    const generator = rig.generator();
    for (const tag of tags) await generator.next(tag);
    await generator.refresh.run();
    rig.store.hold();
    generator.tryNext('slow');
    await rig.settle();
    const closed = watch(generator.close());
    await rig.settle();
    for (const call of [...rig.store.held]) if (call.method === 'giveBack') call.fail();
    await rig.settle();
    expect([closed.settled, rig.store.held.map(({ tag }) => tag)]).toEqual([false, ['slow']]);
    rig.store.release();
    await rig.settle();
    expect(closed.code).toBe('LEAF_STORE_UNAVAILABLE');
  });

  it('lets any number of tags wait for their next attempt without a warning of Node.js', async () => {
    const rig = new SegmentRig(10);
    const tags = Array.from({ length: 20 }, (_, index) => `tag-${index}`);
    for (const tag of tags) rig.store.put(tag, 1n, 10);
    const generator = rig.generator();
    await generator.refresh.run();
    const sleep = jest.spyOn(rig.clock, 'sleep');
    rig.store.breakDown();
    for (const tag of tags) generator.tryNext(tag);
    await rig.settle();
    const signals = sleep.mock.calls.flatMap(([, signal]) => signal ?? []);
    expect(signals).toHaveLength(tags.length);
    expect(getEventListeners(signals[0]!, 'abort')).toHaveLength(1);
    await generator.close();
  });
});
