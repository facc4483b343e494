import { PLAIN_TAG } from '@leaf-ids/core';
import { SegmentRig, TAG } from '../../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../../test/support/watch';
import type { TagSource } from '../allocation/tag-source';
import { TagSources } from '../periodic/tag-sources';

const STRICT = { ...PLAIN_TAG, order: 'strict' as const };

describe('StrictTag whose store fails', () => {
  let rig: SegmentRig;
  let tag: TagSource;

  beforeEach(() => {
    rig = new SegmentRig(1000);
    tag = new TagSources(rig.context).open({ tag: TAG, kind: STRICT }, 0n);
  });

  it('counts as failing until it issues IDs again', async () => {
    const failing = (): unknown => rig.context.used.failing(rig.clock.monotonic());
    rig.store.failNext(1);
    const id = watch(tag.take());
    await rig.settle();
    expect(failing()).toMatchObject({ tag: TAG, count: 1, error: { code: 'LEAF_STORE_UNAVAILABLE' } });
    await rig.clock.advance(50);
    expect([id.value, failing()]).toEqual([1n, undefined]);
  });

  it('names the fault of a store that returns no result', async () => {
    jest.spyOn(rig.store, 'allocateAll').mockResolvedValue([]);
    const id = watch(tag.take());
    await rig.settle();
    const cause: unknown = expect.objectContaining({ message: 'The store returned no result for a request.' });
    expect(id.error).toMatchObject({ code: 'LEAF_SEGMENT_UNAVAILABLE', cause });
  });
});

describe('StrictTag of a generator', () => {
  let rig: SegmentRig;

  beforeEach(() => {
    rig = new SegmentRig(1000);
  });

  it('is known by its row, and ascends over generators', async () => {
    rig.store.put(TAG, 1n, 1000, STRICT);
    const [one, two] = [rig.generator(), rig.generator()];
    await one.refresh.run();
    const ids = [await one.next(TAG), await two.next(TAG), await one.next(TAG), await two.next(TAG)];
    expect(ids).toEqual([1n, 2n, 3n, 4n]);
    expect([one.isStrict(TAG), two.isStrict(TAG), one.isStrict('none')]).toEqual([true, true, false]);
    expect(one.tryNext(TAG)).toBeUndefined();
    await one.close();
    expect(rig.store.givenBack).toStrictEqual([]);
  });

  it('is replaced if its row was inserted again with another order, above all earlier IDs', async () => {
    const generator = rig.generator();
    expect(await generator.next(TAG)).toBe(1n);
    rig.store.put(TAG, 1n, 1000, STRICT);
    await generator.refresh.run();
    expect(generator.isStrict(TAG)).toBe(true);
    const next = watch(generator.next(TAG));
    await rig.clock.advance(50);
    expect(next.value).toBe(1001n);
    rig.store.put(TAG, 1n, 1000);
    await generator.refresh.run();
    expect(generator.isStrict(TAG)).toBe(false);
  });

  it('refuses a tag with invalid settings', async () => {
    const generator = rig.generator();
    jest.spyOn(rig.store, 'findTag').mockResolvedValue({ tag: TAG, kind: undefined });
    await expect(generator.next(TAG)).rejects.toMatchObject({ code: 'LEAF_TAG_ROW_INVALID' });
  });

  it('pauses and resumes', async () => {
    rig.store.put(TAG, 1n, 1000, STRICT);
    const generator = rig.generator();
    expect(await generator.pause(TAG)).toBe(true);
    await expect(generator.next(TAG)).rejects.toMatchObject({ code: 'LEAF_TAG_PAUSED' });
    expect(generator.snapshotOf(TAG)).toMatchObject({ paused: true, order: 'strict' });
    await generator.resume(TAG);
    expect(await generator.next(TAG)).toBe(1n);
    generator.remove(TAG);
    rig.store.rows.delete(TAG);
    await expect(generator.next(TAG)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
  });
});
