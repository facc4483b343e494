import { PLAIN_TAG } from './tag-settings';
import type { TagRow } from './tag-store';
import { jsonOfTag } from './tag-json';

const ROW: TagRow = {
  ...{ ...PLAIN_TAG, tag: 'order', maxId: 2001n, step: 2000, updatedAt: 1_700_000_000_000 },
  ...{ maxStep: undefined, max: undefined, description: undefined },
};
const JSON_OF_ROW = { tag: 'order', maxId: '2001', step: 2000, description: '', updatedAt: '2023-11-14T22:13:20.000Z' };

describe('jsonOfTag', () => {
  it('has only the settings of the tag', () => {
    expect(jsonOfTag(ROW)).toEqual(JSON_OF_ROW);
  });

  it('has all settings of the tag, and its database', () => {
    const settings = { maxStep: 5000, order: 'strict', reset: 'monthly', zone: 'UTC', description: 'orders' } as const;
    const interleave = { of: 2, remainder: 1, block: 100 };
    expect(jsonOfTag({ ...ROW, ...settings, max: 2n ** 62n, interleave }, 'a')).toEqual({
      ...{ ...JSON_OF_ROW, ...settings, interleave },
      ...{ max: '4611686018427387904', shard: 'a' },
    });
  });
});
