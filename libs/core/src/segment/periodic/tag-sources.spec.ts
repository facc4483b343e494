import { SegmentRig, TAG } from '../../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../../test/support/watch';
import { PLAIN_TAG, type TagOrder } from '../tags/tag-settings';
import { TagSources } from './tag-sources';

const kindOf = (order: TagOrder) => ({ ...PLAIN_TAG, order });

describe('TagSources', () => {
  it.each(['relaxed', 'strict', 'gapless'] as const)('opens a %s tag above its highest ID', (order) => {
    const source = new TagSources(new SegmentRig().context).open({ tag: TAG, kind: kindOf(order) }, 41n);
    expect(source).toMatchObject({ tag: TAG, order, highest: order === 'gapless' ? 0n : 41n });
  });

  it('opens a tag without valid settings as a relaxed one', () => {
    const source = new TagSources(new SegmentRig().context).open({ tag: TAG, kind: undefined }, 0n);
    expect(source.order).toBe('relaxed');
  });

  it.each([
    ['share statements in one database', () => 'one', 1],
    ['have statements of their own in different databases', (tag: string) => tag, 2],
  ])('lets strict tags %s', async (_, databaseOf, statements) => {
    const rig = new SegmentRig();
    rig.store.databaseOf = databaseOf;
    rig.store.put('other', 1n, 10);
    const sources = new TagSources(rig.context);
    const calls = [TAG, 'other'].map((tag) => watch(sources.open({ tag, kind: kindOf('strict') }, 0n).take()));
    await rig.settle();
    expect([calls.map(({ value }) => value), rig.store.statements.length]).toEqual([[1n, 1n], statements]);
  });
});
