import { PLAIN_TAG } from '@leaf-ids/core';
import { SegmentRig, TAG } from '../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../test/support/watch';
import type { SegmentIdGenerator } from './segment-id-generator';

async function nextMany(generator: SegmentIdGenerator, tag: string, count: number): Promise<bigint[]> {
  const ids: bigint[] = [];
  for (let i = 0; i < count; i++) ids.push(await generator.next(tag));
  return ids;
}

describe('SegmentIdGenerator, looking tags up', () => {
  it('looks an unknown tag up once', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await nextMany(generator, TAG, 10);
    await generator.takeRanges(TAG, 10);
    expect(rig.store.count('findTag')).toBe(1);
  });

  it('concurrent lookups of one tag share one call', async () => {
    const rig = new SegmentRig();
    rig.store.put('user', 1n, 10);
    const generator = rig.generator();
    rig.store.hold();
    const calls = [generator.next(TAG), generator.takeRanges(TAG, 3), generator.next(TAG), generator.next('user')].map(
      (call) => watch<unknown>(call),
    );
    // A burst of calls must not use up the time of the store.
    expect(rig.store.held).toStrictEqual([]);
    await rig.settle();
    expect(rig.store.held.map(({ method, tag }) => [method, tag])).toEqual([
      ['findTag', TAG],
      ['findTag', 'user'],
    ]);
    rig.store.release();
    await rig.settle();
    expect(calls.map((call) => call.value)).toEqual([1n, [{ from: 2n, to: 4n }], 5n, 1n]);
    expect(rig.store.count('allocate')).toBe(2);
  });

  it('caches a missing tag for a second', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    const together = [watch(generator.next('none')), watch(generator.next('none'))];
    await rig.settle();
    expect(together.map((call) => call.code)).toEqual(['LEAF_TAG_NOT_FOUND', 'LEAF_TAG_NOT_FOUND']);
    await rig.clock.advance(999);
    await expect(generator.next('none')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    await expect(generator.takeRanges('none', 5)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    expect(rig.store.count('findTag')).toBe(1);
    rig.store.put('none', 1n, 10);
    await rig.clock.advance(1);
    expect(await generator.next('none')).toBe(1n);
    expect(rig.store.count('findTag')).toBe(2);
  });

  it('waits for a lookup no longer than for a segment', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    rig.store.hold();
    const calls = [watch(generator.next('none')), watch<unknown>(generator.takeRanges('none', 5))];
    await rig.clock.advance(rig.options.waitMs - 1);
    expect(calls.map((call) => call.code)).toEqual([undefined, undefined]);
    await rig.clock.advance(1);
    expect(calls.map((call) => call.code)).toEqual(['LEAF_SEGMENT_UNAVAILABLE', 'LEAF_SEGMENT_UNAVAILABLE']);
    rig.store.release();
    rig.store.put('none', 1n, 10);
    expect(await generator.next('none')).toBe(1n);
  });

  it('leaves the connections of a slow store to the tags that are known', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.next(TAG);
    rig.store.hold();
    const unknown = Array.from({ length: 100 }, (_, index) => watch(generator.next(`none-${index}`)));
    await rig.settle();
    expect(rig.store.held).toHaveLength(4);
    const known = watch(generator.takeRanges(TAG, 10_000));
    await rig.settle();
    expect(rig.store.held.at(-1)).toMatchObject({ method: 'allocate', tag: TAG });
    await rig.clock.advance(rig.options.waitMs);
    expect([...unknown, known].map((call) => call.code)).toEqual(Array(101).fill('LEAF_SEGMENT_UNAVAILABLE'));
    rig.store.release();
    expect(await generator.next(TAG)).toBeGreaterThan(1n);
  });

  it('looks the tags of a database up while another one does not answer', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    const find = rig.store.findTag.bind(rig.store);
    const isLost = (tag: string): boolean => tag.startsWith('lost');
    jest.spyOn(rig.store, 'databaseOf').mockImplementation((tag) => (isLost(tag) ? 'a' : 'b'));
    const spy = jest.spyOn(rig.store, 'findTag');
    spy.mockImplementation((tag) => (isLost(tag) ? new Promise(() => undefined) : find(tag)));
    const lost = Array.from({ length: 5 }, (_, index) => watch(generator.next(`lost-${index}`)));
    await rig.settle();
    expect(await generator.next(TAG)).toBe(1n);
    await rig.clock.advance(rig.options.waitMs);
    expect(lost.map((call) => call.code)).toEqual(Array(5).fill('LEAF_SEGMENT_UNAVAILABLE'));
  });

  it('goes on after a store that has thrown in place of a rejection', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    const spy = jest.spyOn(rig.store, 'findTag').mockImplementation(() => {
      throw new Error('thrown');
    });
    for (let index = 0; index < 4; index++) await expect(generator.next(`none-${index}`)).rejects.toThrow('thrown');
    spy.mockRestore();
    expect(await generator.next(TAG)).toBe(1n);
  });

  it('begins no lookup once closed', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    rig.store.hold();
    const calls = Array.from({ length: 6 }, (_, index) => watch(generator.next(`none-${index}`)));
    await rig.settle();
    await generator.close();
    rig.store.release();
    await rig.settle();
    expect(rig.store.count('findTag')).toBe(4);
    expect(calls.map((call) => call.code)).toEqual(Array(6).fill('LEAF_NOT_READY'));
  });

  it('allocates nothing for a lookup that is answered after the end', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    rig.store.hold();
    const calls = [watch(generator.next(TAG)), watch<unknown>(generator.takeRanges(TAG, 5))];
    await rig.settle();
    const closed = watch(generator.close());
    rig.store.release();
    await rig.settle();
    expect(calls.map((call) => call.code)).toEqual(['LEAF_NOT_READY', 'LEAF_NOT_READY']);
    expect([closed.value, rig.store.count('allocate'), generator.tagCount]).toEqual([0, 0, 0]);
  });

  it('finds a tag again at once that was removed and created again', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    expect(await generator.next(TAG)).toBe(1n);
    generator.remove(TAG);
    expect(await generator.next(TAG)).toBeGreaterThan(1n);
    expect(rig.store.count('findTag')).toBe(2);
  });

  it.each([
    ['an ID', undefined, (generator: SegmentIdGenerator) => generator.next(TAG)],
    ['a number of a period', 'daily', (generator: SegmentIdGenerator) => generator.takeInPeriod(TAG, 1)],
  ] as const)('serves %s or says that the tag is gone, at whichever moment it is removed', async (_, reset, ask) => {
    const codes = new Set<unknown>();
    for (let reactions = 0; reactions < 40; reactions++) {
      const rig = new SegmentRig();
      rig.store.put(TAG, 1n, 10, { ...PLAIN_TAG, reset, zone: reset && 'UTC' });
      const generator = rig.generator();
      rig.store.hold();
      const call = watch<unknown>(ask(generator));
      await rig.settle();
      rig.store.release();
      for (let reaction = 0; reaction < reactions; reaction++) await Promise.resolve();
      generator.remove(TAG);
      await rig.settle();
      expect(call.settled).toBe(true);
      codes.add(call.code);
    }
    expect(codes).toEqual(new Set([undefined, 'LEAF_TAG_NOT_FOUND']));
  });

  it('counts the second from the answer', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    rig.store.hold();
    const call = watch(generator.next('none'));
    await rig.clock.advance(700);
    rig.store.release();
    await rig.settle();
    expect(call.code).toBe('LEAF_TAG_NOT_FOUND');
    await rig.clock.advance(999);
    await expect(generator.next('none')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    expect(rig.store.count('findTag')).toBe(1);
  });

  it('caches a limited number of missing tags, the newest', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    for (let i = 0; i <= 10_000; i++) await generator.next(`none-${i}`).catch(() => undefined);
    const lookups = rig.store.count('findTag');
    await expect(generator.next('none-1')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    expect(rig.store.count('findTag')).toBe(lookups);
    await expect(generator.next('none-0')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    expect(rig.store.count('findTag')).toBe(lookups + 1);
  });

  it('does not cache a failed lookup', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    rig.store.failNext(1);
    await expect(generator.next(TAG)).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    expect(await generator.next(TAG)).toBe(1n);
  });
});

describe('a refresh of thousands of tags', () => {
  function rigOf(count: number): SegmentRig {
    const rig = new SegmentRig();
    for (let n = 1; n < count; n++) rig.store.put(`tag-${n}`, 1n, 10);
    return rig;
  }

  it('lets requests pass now and then', async () => {
    const rig = rigOf(2500);
    const generator = rig.generator();
    const seen = new Set<number>();
    const others = async (): Promise<void> => {
      for (let turn = 0; turn < 20; turn++) {
        await rig.clock.sleep(0);
        seen.add(generator.snapshot().length);
      }
    };
    const run = watch(Promise.all([others(), generator.refresh.run()]).then(() => 'done'));
    await rig.settle();
    expect(run.value).toBe('done');
    expect([...seen]).toEqual(expect.arrayContaining([1000, 2000, 2500]));
  });

  it('ends in the middle when the generator closes', async () => {
    const rig = rigOf(2500);
    const generator = rig.generator();
    const closeSoon = async (): Promise<void> => {
      while (generator.snapshot().length === 0) await rig.clock.sleep(0);
      expect(generator.snapshot()).toHaveLength(1000);
      await generator.close();
    };
    const run = watch(Promise.all([closeSoon(), generator.refresh.run()]).then(() => 'done'));
    await rig.settle();
    expect(run.value).toBe('done');
    expect(generator.snapshot()).toStrictEqual([]);
  });
});
