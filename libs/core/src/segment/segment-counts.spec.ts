import { PLAIN_TAG } from '@leaf-ids/core';
import { SegmentRig, TAG } from '../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../test/support/watch';

describe('SegmentIdGenerator, counts', () => {
  it('counts the IDs of each tag, paused ones included', async () => {
    const rig = new SegmentRig(10);
    rig.store.put('user', 1n, 100);
    const generator = rig.generator();
    await generator.takeRanges(TAG, 3);
    await generator.next('user');
    await rig.settle();
    await generator.pause('user');
    const seen: unknown[] = [];
    generator.visit((...counts) => seen.push(counts));
    expect(seen).toEqual([
      [TAG, 3, 10, 10],
      ['user', 1, 99, 100],
    ]);
    const surveyed: unknown[] = [];
    await generator.survey((...counts) => surveyed.push(counts));
    expect(surveyed).toEqual(seen);
    const one: unknown[] = [];
    for (const tag of ['user', TAG, 'none']) generator.visitOne(tag, (...counts) => one.push(counts));
    expect(one).toEqual([seen[1], seen[0]]);
    expect(generator.issued).toBe(4);
    expect(generator.totals.times.snapshot().count).toBe(3);
    expect(generator.totals).toMatchObject({ loads: 2, failures: 0, retries: 0, backwards: 0 });
    generator.remove(TAG);
    expect(generator.totals.loads).toBe(2);
  });

  it('names the tags in use that are known, and counts those that are removed or created again', async () => {
    const rig = new SegmentRig(10);
    for (const tag of ['idle', 'gone', 'paused']) rig.store.put(tag, 1n, 10);
    rig.store.put('strict', 1n, 10, { ...PLAIN_TAG, order: 'strict' });
    rig.store.put('invoice', 1n, 10, { ...PLAIN_TAG, reset: 'monthly' });
    const generator = rig.generator();
    await generator.refresh.run();
    const counts: number[] = [];
    const used = (): string[] => {
      const tags: string[] = [];
      counts.push(generator.countIssued((tag) => tags.push(tag)));
      expect(generator.issued).toBe(counts.at(-1));
      return tags.sort();
    };
    expect(used()).toStrictEqual([]);
    for (const tag of [TAG, 'gone', 'paused', 'strict']) await generator.next(tag);
    await generator.takeInPeriod('invoice', 2);
    await generator.pause('paused');
    expect(used()).toEqual(['gone', 'invoice', TAG, 'paused', 'strict']);
    generator.remove('gone');
    generator.remove('invoice');
    expect(used()).toEqual([TAG, 'paused', 'strict']);
    await rig.settle();
    expect(used()).toEqual([TAG, 'paused', 'strict']);
    await generator.next('gone');
    expect(used()).toEqual(['gone', TAG, 'paused', 'strict']);
    await generator.close();
    counts.push(generator.issued);
    expect(counts).toEqual([0, 6, 6, 6, 7, 7]);
  });

  it('keeps the count of a removed tag, without a range that was refused with it', async () => {
    const rig = new SegmentRig(10, { prefetchRatio: 1 });
    const generator = rig.generator();
    await generator.takeRanges(TAG, 3);
    await rig.settle();
    rig.store.hold();
    const range = watch(generator.takeRanges(TAG, 20));
    generator.remove(TAG);
    expect(generator.issued).toBe(3);
    rig.store.release();
    await rig.settle();
    expect(range.code).toBe('LEAF_TAG_NOT_FOUND');
    expect(generator.issued).toBe(3);
    await generator.close();
    expect(generator.issued).toBe(3);
  });

  it('counts each ID once, at whichever moment its tag is removed', async () => {
    const issued = new Set<number>();
    for (let reactions = 0; reactions < 40; reactions++) {
      const rig = new SegmentRig(10);
      const generator = rig.generator();
      await generator.next(TAG);
      rig.store.hold();
      const range = watch(generator.takeRanges(TAG, 20));
      await rig.settle();
      rig.store.release();
      for (let reaction = 0; reaction < reactions; reaction++) await Promise.resolve();
      generator.remove(TAG);
      await rig.settle();
      issued.add(generator.issued);
      expect(generator.issued).toBe(range.code === 'LEAF_TAG_NOT_FOUND' ? 1 : 21);
    }
    expect([...issued]).toEqual([1, 21]);
  });
});
