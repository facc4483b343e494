import { idsOf, SegmentRig, stopping, TAG, takeMany } from '../../../../test/support/segment-rig';
import { watch } from '../../../../test/support/watch';
import type { DoubleBuffer } from './double-buffer';

/** Holds 4..10 and 11..20; the store holds its answers from now on. */
async function loadedAndHeld(): Promise<{ rig: SegmentRig; buffer: DoubleBuffer }> {
  const rig = new SegmentRig(10);
  const buffer = rig.buffer();
  await takeMany(buffer, 3);
  await rig.settle();
  rig.store.hold();
  return { rig, buffer };
}

describe('DoubleBuffer, ranges that are refused', () => {
  it('keeps an allocation that answers late, behind two segments', async () => {
    const { rig, buffer } = await loadedAndHeld();
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

  it('hands back at its end what is buffered while an allocation fails', async () => {
    const { rig, buffer } = await loadedAndHeld();
    const range = watch(buffer.takeRanges(30));
    const rest = watch(buffer.retire(stopping));
    rig.store.held[0]!.fail();
    await rig.settle();
    expect(rest.value).toEqual([
      { from: 11n, to: 20n },
      { from: 4n, to: 10n },
    ]);
    expect(range.code).toBe('LEAF_NOT_READY');
  });

  it('hands out nothing of a load that arrives after its end, not for a moment', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.hold();
    buffer.tryNext();
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
    const { rig, buffer } = await loadedAndHeld();
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

  it('looks for the next segment again once a refused range no longer loads', async () => {
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

  it('refuses ranges of a deleted row from memory', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.rows.delete(TAG);
    for (let i = 0; i < 20; i++)
      await expect(buffer.takeRanges(5)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    expect(rig.store.count('allocate')).toBe(1);
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
