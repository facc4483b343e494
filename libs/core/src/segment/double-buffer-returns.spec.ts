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

describe('DoubleBuffer, with IDs that come back', () => {
  it('keeps an exact allocation that answers late, behind two segments that came back', async () => {
    const { rig, buffer } = await loadedAndHeld();
    watch(buffer.takeRanges(30));
    await rig.clock.advance(1000);
    rig.store.release();
    await rig.settle();
    expect(idsOf(...(await buffer.takeRanges(20)))).toEqual(idsOf({ from: 4n, to: 23n }));
  });

  it('hands back at its end what a failing exact allocation had taken', async () => {
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

  it('serves a waiting call from what a refused range gave back', async () => {
    const { rig, buffer } = await loadedAndHeld();
    watch(buffer.takeRanges(30));
    await rig.clock.advance(500);
    const single = watch(buffer.take());
    await rig.clock.advance(1000);
    expect(single.value).toBe(4n);
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
