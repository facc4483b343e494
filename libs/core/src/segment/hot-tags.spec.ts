import { SegmentRig, takeMany } from '../../../../test/support/segment-rig';
import { FakeClock } from '../clock/fake-clock';
import { HotTags } from './hot-tags';

const HOUR = 3_600_000;

describe('HotTags', () => {
  const options = { keptMs: 24 * HOUR, most: 3 };

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
