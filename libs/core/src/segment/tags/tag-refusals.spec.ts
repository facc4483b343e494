import type { LeafError } from '../../errors/leaf-error';
import * as refusals from './tag-refusals';

const cause = new Error('connection lost');

describe('The refusal of a call for a tag', () => {
  it.each<[LeafError, string, number | undefined]>([
    [refusals.pausedTag('order'), 'LEAF_TAG_PAUSED', 5000],
    [refusals.replacedTag('order'), 'LEAF_STORE_UNAVAILABLE', 1000],
    [refusals.segmentUnavailable('order', 250, cause), 'LEAF_SEGMENT_UNAVAILABLE', 1000],
    [refusals.strictUnavailable('order', 250, cause), 'LEAF_SEGMENT_UNAVAILABLE', 1000],
    [refusals.tooManyWaiting('order'), 'LEAF_OVERLOADED', 1000],
  ])('that a later try may pass names the time of that try: %s', (refusal, code, retryAfterMs) => {
    expect(refusal).toMatchObject({ code, retryAfterMs, message: expect.stringContaining('ag "order"') });
  });

  it.each<[LeafError, string]>([
    [refusals.unknownTag('order'), 'LEAF_TAG_NOT_FOUND'],
    [refusals.invalidRow('order'), 'LEAF_TAG_ROW_INVALID'],
    [refusals.periodicTag('order'), 'LEAF_TAG_PERIODIC'],
    [refusals.gaplessTag('order'), 'LEAF_TAG_GAPLESS'],
    [refusals.tagWithoutPeriods('order'), 'LEAF_TAG_NOT_PERIODIC'],
    [refusals.tooManyBlocks('order', 5000), 'LEAF_SIZE_INVALID'],
    [refusals.notConsecutive('order', 5000), 'LEAF_SIZE_INVALID'],
  ])('that no later try passes names the tag alone: %s', (refusal, code) => {
    const message: unknown = expect.stringContaining('ag "order"');
    expect(refusal).toMatchObject({ code, retryAfterMs: undefined, message });
  });

  it('after the wait limit has the limit and the fault of the database', () => {
    for (const refuse of [refusals.segmentUnavailable, refusals.strictUnavailable]) {
      expect(refuse('order', 250, cause)).toMatchObject({ cause, message: expect.stringContaining('after 250 ms') });
    }
  });

  it('of a stopping server sends the caller to another one', () => {
    expect(refusals.stopping()).toMatchObject({ code: 'LEAF_NOT_READY', retryAfterMs: 1000 });
  });
});
