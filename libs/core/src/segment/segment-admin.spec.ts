import { PLAIN_TAG } from '@leaf-ids/core';
import { SegmentRig, TAG } from '../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../test/support/watch';

const PAUSED = {
  code: 'LEAF_TAG_PAUSED',
  status: 503,
  retryAfterMs: 5000,
  message: expect.stringContaining(`"${TAG}" is paused`),
};
const UNKNOWN = { code: 'LEAF_TAG_NOT_FOUND', message: expect.stringContaining('Tag "none" does not exist') };

it('SegmentIdGenerator refuses calls that wait for a tag whose row was replaced by one of another kind', async () => {
  const rig = new SegmentRig();
  const generator = rig.generator();
  rig.store.hold();
  const waiting = watch(generator.next(TAG));
  rig.store.release();
  await rig.settle();
  expect(waiting.value).toBe(1n);
  const buffer = watch(generator.takeRanges(TAG, 100_000));
  rig.store.hold();
  generator.add({ tag: TAG, kind: { ...PLAIN_TAG, order: 'strict' } });
  rig.store.release();
  await rig.settle();
  expect(buffer.code).toBe('LEAF_STORE_UNAVAILABLE');
});

describe('SegmentIdGenerator, pause', () => {
  it('refuses the tag, and no other, until it is resumed', async () => {
    const rig = new SegmentRig();
    rig.store.put('user', 501n, 10);
    const generator = rig.generator();
    expect(await generator.next(TAG)).toBe(1n);
    expect(await generator.pause(TAG)).toBe(true);
    expect(generator.pausedTags()).toEqual([TAG]);
    expect([generator.isPaused(TAG), generator.isPaused('user')]).toEqual([true, false]);
    expect(generator.tryNext(TAG)).toBeUndefined();
    await expect(generator.next(TAG)).rejects.toMatchObject(PAUSED);
    await expect(generator.takeRanges(TAG, 5)).rejects.toMatchObject(PAUSED);
    expect(await generator.next('user')).toBe(501n);
    expect(await generator.resume(TAG)).toBe(true);
    expect(generator.pausedTags()).toStrictEqual([]);
    expect(generator.tryNext(TAG)).toBe(2n);
    expect(rig.store.count('allocate')).toBe(2);
  });

  it('is idempotent', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    expect(await Promise.all([generator.pause(TAG), generator.pause(TAG)])).toEqual([true, false]);
    expect(await generator.pause(TAG)).toBe(false);
    expect(await generator.resume(TAG)).toBe(true);
    expect(await generator.resume(TAG)).toBe(false);
    expect(await generator.next(TAG)).toBe(1n);
  });

  it('is refused for a tag that does not exist', async () => {
    const generator = new SegmentRig().generator();
    await expect(generator.pause('none')).rejects.toMatchObject(UNKNOWN);
    await expect(generator.resume('none')).rejects.toMatchObject(UNKNOWN);
    expect(generator.pausedTags()).toStrictEqual([]);
  });

  it('is refused for a tag that is removed between the lookup and the pause', async () => {
    const codes = new Set<string | undefined>();
    for (let turns = 0; turns < 20; turns++) {
      const rig = new SegmentRig();
      const generator = rig.generator();
      rig.store.hold();
      const pausing = watch(generator.pause(TAG));
      rig.store.release();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      const known = generator.tagCount > 0;
      generator.remove(TAG);
      await rig.settle();
      expect(pausing.value ?? pausing.code).toBe(pausing.code ?? true);
      if (known) expect(generator.pausedTags()).toStrictEqual([]);
      codes.add(pausing.code);
    }
    expect([...codes]).toEqual([undefined, 'LEAF_TAG_NOT_FOUND']);
  });

  it('needs no store for a tag that is known', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.next(TAG);
    rig.store.breakDown();
    expect(await generator.pause(TAG)).toBe(true);
    expect(await generator.resume(TAG)).toBe(true);
    expect(await generator.resume(TAG)).toBe(false);
    expect(generator.tryNext(TAG)).toBe(2n);
  });

  it('refuses a call whose lookup was in progress', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.refresh.run();
    generator.remove(TAG);
    rig.store.hold();
    const call = watch(generator.next(TAG));
    generator.add({ tag: TAG, kind: PLAIN_TAG });
    await generator.pause(TAG);
    rig.store.release();
    await rig.settle();
    expect(call.code).toBe('LEAF_TAG_PAUSED');
  });

  it('survives a refresh, an addition and a snapshot', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.next(TAG);
    await generator.pause(TAG);
    await generator.refresh.run();
    generator.add({ tag: TAG, kind: PLAIN_TAG });
    await expect(generator.next(TAG)).rejects.toMatchObject(PAUSED);
    expect(generator.snapshot().map(({ tag, loads }) => [tag, loads])).toEqual([[TAG, 1]]);
  });

  it('ends with the tag', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.pause(TAG);
    rig.store.rows.delete(TAG);
    await generator.refresh.run();
    expect(generator.pausedTags()).toStrictEqual([]);
    await expect(generator.next(TAG)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
  });

  it('still serves a call that waits for a segment', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.refresh.run();
    rig.store.hold();
    const waiting = watch(generator.next(TAG));
    await generator.pause(TAG);
    rig.store.release();
    await rig.settle();
    expect(waiting.value).toBe(1n);
  });

  it('leaves no call waiting when the tag is deleted meanwhile', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.refresh.run();
    rig.store.hold();
    const waiting = watch(generator.next(TAG));
    await generator.pause(TAG);
    generator.remove(TAG);
    rig.store.release();
    await rig.settle();
    expect(waiting.code).toBe('LEAF_TAG_NOT_FOUND');
  });

  it('loses no ID when the generator closes', async () => {
    const rig = new SegmentRig(10);
    const generator = rig.generator();
    await generator.next(TAG);
    await generator.pause(TAG);
    await generator.close();
    expect(rig.store.maxId(TAG)).toBe(2n);
    await expect(generator.next(TAG)).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    await expect(generator.pause(TAG)).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
  });
});

describe('SegmentIdGenerator, add and remove', () => {
  it('a new tag is served, though it was not found a moment ago', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await expect(generator.next('new')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    rig.store.put('new', 1n, 10);
    await expect(generator.next('new')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    generator.add({ tag: 'new', kind: PLAIN_TAG });
    expect(await generator.next('new')).toBe(1n);
  });

  it('a new tag is served, though an older lookup finds nothing later', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    rig.store.hold();
    const early = watch(generator.next('new'));
    await rig.settle();
    rig.store.held[0]!.apply();
    rig.store.put('new', 1n, 10);
    generator.add({ tag: 'new', kind: PLAIN_TAG });
    rig.store.release();
    await rig.settle();
    expect(early.code).toBe('LEAF_TAG_NOT_FOUND');
    expect(await generator.next('new')).toBe(1n);
  });

  it('a deleted tag stops immediately, including its waiting callers', async () => {
    const rig = new SegmentRig(1);
    const generator = rig.generator();
    await generator.next(TAG);
    rig.store.hold();
    const waiting = watch(Promise.all([generator.next(TAG), generator.next(TAG)]));
    await rig.settle();
    rig.store.rows.delete(TAG);
    generator.remove(TAG);
    rig.store.release();
    await rig.settle();
    expect(waiting.code).toBe('LEAF_TAG_NOT_FOUND');
    expect(generator.tryNext(TAG)).toBeUndefined();
    await expect(generator.next(TAG)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
  });

  it('a closed generator ignores both', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    await generator.close();
    generator.add({ tag: TAG, kind: PLAIN_TAG });
    expect(generator.snapshot()).toStrictEqual([]);
  });
});
