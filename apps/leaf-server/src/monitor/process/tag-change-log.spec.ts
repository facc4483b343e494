import type { SegmentService } from '@leaf-ids/id';
import { SegmentRig, TAG } from '../../../../../test/support/fakes/segment-rig';
import { loadConfig } from '../../config/leaf-config';
import { IssueRates } from '../sampling/issue-rates';
import { ServerIdentity } from './server-identity';
import { TagViews } from './tag-views';
import type { MonitorTag } from '../views/views';
import { TagChangeLog } from './tag-change-log';

describe('TagBoard', () => {
  it('gives a reader that missed rounds all that changed since, and nothing else', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    for (const tag of [TAG, 'one', 'two', 'three']) rig.store.put(tag, 1n, 100);
    await generator.refresh.run();
    const identity = new ServerIdentity(loadConfig({}), rig.clock);
    const views = new TagViews(rig.clock, identity, new IssueRates(rig.clock), { generator } as SegmentService);
    const board = new TagChangeLog(views);
    const after = (round: number): string[] =>
      [...board.changesAfter(round)].flat().map((json) => (JSON.parse(json) as MonitorTag).tag);

    await board.update();
    expect(after(0)).toEqual([TAG, 'one', 'two', 'three']);
    await generator.next('one');
    await board.update();
    await generator.next('two');
    generator.remove('three');
    await board.update();
    expect(board.round).toBe(3);
    expect([after(1), board.goneAfter(1)]).toEqual([['one', 'two'], ['three']]);
    expect([after(2), board.goneAfter(2)]).toEqual([['two'], ['three']]);
    expect([after(3), board.goneAfter(3)]).toEqual([[], []]);
    expect(after(0)).toEqual([TAG, 'one', 'two']);
    board.forgetGone(3);
    expect(board.goneAfter(1)).toStrictEqual([]);
  });

  it('tells of each tag that goes, and of each that comes, between two slices of a round', async () => {
    const shown = new Map(Array.from({ length: 4 }, (_, index) => [`tag-${index}`, 1]));
    let between = (_tag: string): void => undefined;
    const board = new TagChangeLog({
      names: () => Promise.resolve([...shown.keys()]),
      forEach: async (tags, act) => {
        for (const tag of tags) {
          await Promise.resolve();
          between(tag);
          act(tag);
        }
      },
      revisionOf: (tag) => shown.get(tag),
      rateOf: () => 0,
      viewOf: (tag) => (shown.has(tag) ? ({ tag } as MonitorTag) : undefined),
    });
    const changed = (round: number): string[] =>
      [...board.changesAfter(round)].flat().map((json) => (JSON.parse(json) as MonitorTag).tag);
    await board.update();
    shown.delete('tag-0');
    let steps = 0;
    // Step 3 is in the look at the three tags that are left, step 5 in the sweep.
    between = () => {
      steps++;
      if (steps === 3) shown.delete('tag-1');
      if (steps === 5) shown.set('tag-0', 1).set('late', 1).delete('tag-2');
    };
    await board.update();
    between = () => undefined;
    await board.update();
    expect(board.goneAfter(1).sort()).toEqual(['tag-1', 'tag-2']);
    expect(changed(1).sort()).toEqual(['late', 'tag-0']);
    expect(changed(0).sort()).toEqual(['late', 'tag-0', 'tag-3']);
  });
});
