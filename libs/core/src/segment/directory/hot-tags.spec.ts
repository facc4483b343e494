import { SegmentRig, TAG, takeMany } from '../../../../../test/support/fakes/segment-rig';
import { FakeClock } from '../../clock/fake-clock';
import type { DoubleBuffer } from '../buffer/double-buffer';
import { DEFAULT_HOT_TAGS, HotTags } from './hot-tags';

const HOUR = 3_600_000;

type See = (tag: string, issued: number) => void;

function survey(...buffers: DoubleBuffer[]): (see: See) => Promise<void> {
  return (see) => {
    for (const { tag, issued } of buffers) see(tag, issued);
    return Promise.resolve();
  };
}

describe('HotTags', () => {
  const options = { ...DEFAULT_HOT_TAGS, most: 3 };

  it('contains a tag that issued IDs, but not one that was only loaded', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    const hot = new HotTags(rig.clock, options);
    await buffer.preload();
    await hot.observe(survey(buffer));
    expect(hot.list()).toStrictEqual([]);
    await takeMany(buffer, 1);
    await hot.observe(survey(buffer));
    expect(hot.list()).toEqual([[buffer.tag, rig.clock.now()]]);
  });

  it('does not contain a tag whose first call was refused', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    const hot = new HotTags(rig.clock, options);
    await buffer.preload();
    rig.store.rows.delete(TAG);
    await expect(buffer.takeRanges(1000)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    await hot.observe(survey(buffer));
    expect(hot.list()).toStrictEqual([]);
  });

  it('drops a tag that is unused for a day', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    const hot = new HotTags(rig.clock, options);
    await takeMany(buffer, 1);
    await hot.observe(survey(buffer));
    rig.clock.step(23 * HOUR);
    await hot.observe(survey(buffer));
    expect(hot.list()).toHaveLength(1);
    rig.clock.step(HOUR);
    expect(hot.list()).toStrictEqual([]);
  });

  it('keeps at most the configured number of tags', async () => {
    const clock = new FakeClock();
    const hot = new HotTags(clock, options);
    hot.restore([['known', clock.now() - 1]]);
    const use = (...tags: string[]): Promise<void> =>
      hot.observe((see) => {
        for (const tag of tags) see(tag, clock.now());
        return Promise.resolve();
      });
    await use('a', 'b', 'c', 'd');
    expect(hot.list().map(([tag]) => tag)).toEqual(['d', 'c', 'b']);
    clock.step(1);
    await use('a');
    expect(hot.list()).toEqual([
      ['a', clock.now()],
      ['d', clock.now() - 1],
      ['c', clock.now() - 1],
    ]);
  });

  it('counts a tag that was removed and created again as used, even with the same number of IDs', async () => {
    const clock = new FakeClock();
    const hot = new HotTags(clock, options);
    const observe = (issued: Readonly<Record<string, number>>): Promise<void> =>
      hot.observe((see) => {
        for (const [tag, count] of Object.entries(issued)) see(tag, count);
        return Promise.resolve();
      });
    await observe({ kept: 1, again: 1 });
    await observe({ kept: 1, again: 0 });
    clock.step(1);
    await observe({ kept: 1, again: 1 });
    expect(hot.list()).toEqual([
      ['again', clock.now()],
      ['kept', clock.now() - 1],
    ]);
  });

  it('keeps the most recently used tags, including restored ones', () => {
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
