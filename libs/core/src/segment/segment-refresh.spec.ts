import { LeafError, PLAIN_TAG, type TagEntry } from '@leaf-ids/core';
import { SegmentRig, TAG } from '../../../../test/support/fakes/segment-rig';
import type { SegmentIdGenerator } from './segment-id-generator';

function tagsOf(generator: SegmentIdGenerator): string[] {
  return generator
    .snapshot()
    .map(({ tag }) => tag)
    .sort();
}

/** The pages of a store, with an action between them. */
async function* pagesOf(
  pages: readonly (readonly string[])[],
  between: () => void = () => undefined,
): AsyncGenerator<readonly TagEntry[], void> {
  for (const page of pages) {
    yield page.map((tag) => ({ tag, kind: PLAIN_TAG }));
    await Promise.resolve();
    between();
  }
}

describe('SegmentIdGenerator, a refresh in pages', () => {
  let rig: SegmentRig;
  let generator: SegmentIdGenerator;

  beforeEach(async () => {
    rig = new SegmentRig();
    for (const tag of ['gone', 'paused', 'user']) rig.store.put(tag, 1n, 10);
    generator = rig.generator();
    await generator.refresh.run();
    await generator.pause('paused');
  });

  it('drops the tags that are on no page, paused ones included', async () => {
    rig.store.tagPages = () => pagesOf([[TAG, 'paused'], ['user']]);
    await generator.refresh.run();
    expect(tagsOf(generator)).toEqual([TAG, 'paused', 'user']);
    expect(generator.pausedTags()).toEqual(['paused']);
    rig.store.tagPages = () => pagesOf([['user'], []]);
    await generator.refresh.run();
    expect(tagsOf(generator)).toEqual(['user']);
  });

  it('keeps a tag that was created, or deleted and created again, after its page', async () => {
    const between = (): void => {
      generator.remove('user');
      for (const tag of ['late', 'user']) generator.add({ tag, kind: PLAIN_TAG });
    };
    rig.store.tagPages = () => pagesOf([['paused', 'user'], [TAG]], between);
    await generator.refresh.run();
    expect(tagsOf(generator)).toEqual(['late', TAG, 'paused', 'user']);
  });

  it('keeps a tag that is deleted and created again between two slices of the sweep', async () => {
    rig.store.put('last', 1n, 10);
    const others = Array.from({ length: 1000 }, (_, n) => `tag-${n}`);
    for (const tag of [...others, 'last']) generator.add({ tag, kind: PLAIN_TAG });
    rig.store.tagPages = () => pagesOf([others]);
    const refreshed = generator.refresh.run();
    while (rig.clock.sleeping === 0) await Promise.resolve();
    generator.remove('last');
    generator.add({ tag: 'last', kind: PLAIN_TAG });
    const call = generator.next('last');
    await rig.clock.advance(0);
    await refreshed;
    expect(tagsOf(generator)).toEqual(['last', ...others].sort());
    await expect(call).resolves.toBe(1n);
  });

  it('reads no further pages once the generator closes', async () => {
    let read = 0;
    let closed: Promise<number> | undefined;
    rig.store.tagPages = () =>
      pagesOf([['user'], [TAG], ['paused']], () => {
        read++;
        closed ??= generator.close();
      });
    await generator.refresh.run();
    await closed;
    expect(read).toBe(1);
  });

  it('drops no tag when a page fails', async () => {
    const fail = (): void => {
      throw new LeafError('LEAF_STORE_UNAVAILABLE', 'down');
    };
    rig.store.tagPages = () => pagesOf([['user'], [TAG]], fail);
    await generator.refresh.run();
    expect(rig.refreshFailures).toHaveLength(1);
    expect(tagsOf(generator)).toEqual(['gone', TAG, 'paused', 'user']);
  });
});
