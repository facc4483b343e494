import type { TagSource } from '../allocation/tag-source';
import { GaplessTag } from './gapless-tag';

describe('GaplessTag', () => {
  const tag = new GaplessTag('invoice');
  const refusal = { code: 'LEAF_TAG_GAPLESS', message: expect.stringContaining('PUT /api/numbers/invoice/<key>') };

  it('refuses every kind of call for IDs', async () => {
    await expect(tag.take()).rejects.toMatchObject(refusal);
    await expect(tag.takeRanges()).rejects.toMatchObject(refusal);
    const source: TagSource = tag;
    expect([source.tryNext(), source.tryNextNumber(), source.tryRanges(1)]).toEqual([undefined, undefined, undefined]);
  });

  it('has nothing to load, and nothing to give back', async () => {
    await expect(tag.preload()).resolves.toBeUndefined();
    await expect(tag.retire()).resolves.toStrictEqual([]);
  });

  it('appears as a tag that has issued nothing', () => {
    const figures = {
      issued: 0,
      buffered: 0,
      step: 0,
      databaseStep: 0,
      loads: 0,
      failures: 0,
      retries: 0,
      backwards: 0,
    };
    expect(tag).toMatchObject({
      tag: 'invoice',
      order: 'gapless',
      issued: 0,
      buffered: 0,
      highest: 0n,
      revision: 0,
      step: 0,
    });
    expect(tag.snapshot()).toStrictEqual({
      ...{ tag: 'invoice', order: 'gapless', loading: false, spare: [], current: undefined, next: undefined },
      ...{ ...figures, lastLoadMs: undefined, lastLoadAt: undefined, lastError: undefined },
    });
  });
});
