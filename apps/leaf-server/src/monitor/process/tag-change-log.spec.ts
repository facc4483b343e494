import type { SegmentService } from '@leaf-ids/segment';
import { SegmentRig, TAG } from '../../../../../test/support/fakes/segment-rig';
import { loadConfig } from '../../config/leaf-config';
import { IssueRates } from '../sampling/issue-rates';
import { ServerIdentity } from './server-identity';
import { TagViews } from './tag-views';
import type { TagView } from '../views/views';
import { TagChangeLog } from './tag-change-log';

describe('TagBoard', () => {
  it('gives a reader that missed rounds all that changed since, and nothing else', async () => {
    const rig = new SegmentRig();
    const generator = rig.generator();
    for (const tag of [TAG, 'one', 'two', 'three']) rig.store.put(tag, 1n, 100);
    await generator.refresh.run();
    const identity = new ServerIdentity(loadConfig({}), rig.clock);
    const views = new TagViews(rig.clock, identity, new IssueRates(rig.clock), generator as unknown as SegmentService);
    const board = new TagChangeLog(views);
    const after = (round: number): string[] =>
      [...board.changesAfter(round)].flat().map((json) => (JSON.parse(json) as TagView).tag);

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
    expect(board.goneAfter(1)).toEqual([]);
  });
});
