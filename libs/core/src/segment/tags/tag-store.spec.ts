import { MAX_ID } from './id-range';
import {
  assertNewTag,
  assertTagChange,
  fitsDescription,
  type TagChange,
  TagStore,
  type TagRow,
  jsonOfTag,
} from './tag-store';
import { PLAIN_TAG } from './tag-settings';

const REFUSED = expect.objectContaining({ code: 'LEAF_BODY_INVALID' }) as Error;

describe('what may be stored of a tag', () => {
  it.each<[string, TagChange]>([
    ['nothing', {}],
    ['the smallest step', { step: 1 }],
    ['the largest step', { step: 2_147_483_647 }],
    ['the lowest ID', { maxId: 1n }],
    ['the highest ID', { maxId: MAX_ID }],
    ['no description', { description: '' }],
    ['the longest description', { description: 'x'.repeat(256) }],
  ])('takes %s', (_, change) => {
    expect(() => assertTagChange(change)).not.toThrow();
    expect(() => assertNewTag({ tag: 'order', ...change, step: change.step ?? 1 })).not.toThrow();
  });

  it.each<[string, TagChange, string]>([
    ['a step of 0', { step: 0 }, 'step must be a whole number from 1 to 2147483647'],
    ['a broken step', { step: 1.5 }, 'step'],
    ['a step beyond the column', { step: 2_147_483_648 }, 'step'],
    ['the ID 0', { maxId: 0n }, 'maxId must be a whole number from 1 to 9223372036854775807'],
    ['an ID beyond 63 bits', { maxId: MAX_ID + 1n }, 'maxId'],
    ['a description beyond the column', { description: 'x'.repeat(257) }, 'description must have at most 256'],
  ])('refuses %s', (_, change, problem) => {
    const refused = expect.objectContaining({
      code: 'LEAF_BODY_INVALID',
      message: expect.stringMatching(`cannot be stored: ${problem}`),
    }) as Error;
    expect(() => assertTagChange(change)).toThrow(refused);
    expect(() => assertNewTag({ tag: 'order', ...change, step: change.step ?? 1 })).toThrow(refused);
  });

  it('has a name that leaves room for a period, if it restarts', () => {
    const tag = 'x'.repeat(128);
    expect(() => assertNewTag({ tag, step: 1 })).not.toThrow();
    expect(() => assertNewTag({ tag, step: 1, reset: 'monthly' })).toThrow('a tag with reset must have at most');
  });

  it('belongs to no named database by default', () => {
    expect(TagStore.prototype.shardOf('order')).toBeUndefined();
  });

  it('is a tag, if it is new', () => {
    const invalid = expect.objectContaining({ code: 'LEAF_TAG_INVALID' }) as Error;
    expect(() => assertNewTag({ tag: 'a b', step: 1 })).toThrow(invalid);
  });

  it('counts a code point beyond 16 bits as one character', () => {
    expect(fitsDescription('😀'.repeat(256))).toBe(true);
    expect(fitsDescription('😀'.repeat(257))).toBe(false);
    expect(() => assertTagChange({ description: '😀'.repeat(257) })).toThrow(REFUSED);
  });
});

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
