import { SegmentRig, TAG, takeMany } from '../../../../test/support/segment-rig';
import { FakeClock } from '../clock/fake-clock';
import { DEFAULT_HOT_TAGS, HotTags } from './hot-tags';

const HOUR = 3_600_000;

describe('HotTags', () => {
  const options = { ...DEFAULT_HOT_TAGS, most: 3 };

  it('knows a tag that gave IDs, and not one that was only loaded', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    const hot = new HotTags(rig.clock, options);
    await buffer.preload();
    hot.observe([buffer.snapshot()]);
    expect(hot.list()).toEqual([]);
    await takeMany(buffer, 1);
    hot.observe([buffer.snapshot()]);
    expect(hot.list()).toEqual([[buffer.tag, rig.clock.now()]]);
  });

  it('does not know a tag whose first call was refused', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    const hot = new HotTags(rig.clock, options);
    await buffer.preload();
    rig.store.rows.delete(TAG);
    await expect(buffer.takeRanges(1000)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    hot.observe([buffer.snapshot()]);
    expect(hot.list()).toEqual([]);
  });

  it('forgets a tag that rests for a day', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    const hot = new HotTags(rig.clock, options);
    await takeMany(buffer, 1);
    hot.observe([buffer.snapshot()]);
    rig.clock.step(23 * HOUR);
    hot.observe([buffer.snapshot()]);
    expect(hot.list()).toHaveLength(1);
    rig.clock.step(HOUR);
    expect(hot.list()).toEqual([]);
  });

  it('keeps the ones used last, and what it knew before', () => {
    const clock = new FakeClock();
    const hot = new HotTags(clock, options);
    const now = clock.now();
    hot.restore([
      ['a', now - 4],
      ['b', now - 1],
      ['c', now - 3],
      ['d', now - 2],
      ['old', now - 25 * HOUR],
      ['ahead', now + HOUR],
    ]);
    expect(hot.list()).toEqual([
      ['ahead', now],
      ['b', now - 1],
      ['d', now - 2],
    ]);
  });
});
