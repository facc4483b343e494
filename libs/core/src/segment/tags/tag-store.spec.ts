import { MAX_ID } from './id-range';
import {
  assertNewTag,
  assertTagChange,
  fitsDescription,
  type TagChange,
  TagStore,
  type TagRow,
  jsonOfTag,
  newTagOf,
  newTagRule,
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
    // The row of a day is its name, an @ and 2026-11-22, in 128 characters.
    expect(() => assertNewTag({ tag: 'x'.repeat(117), step: 1, reset: 'monthly' })).not.toThrow();
    expect(() => assertNewTag({ tag: 'x'.repeat(118), step: 1, reset: 'monthly' })).toThrow(
      'a tag with reset must have at most 117 characters',
    );
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

describe('a declared tag', () => {
  it('has the default step, unless it names its own', () => {
    expect(newTagOf('order')).toEqual({ tag: 'order', step: 2000 });
    expect(newTagOf({ tag: 'order' })).toEqual({ tag: 'order', step: 2000 });
    expect(newTagOf({ tag: 'order', step: 5, maxId: 7n })).toEqual({ tag: 'order', step: 5, maxId: 7n });
  });

  it.each([
    { tag: 'order' },
    { tag: 'order', step: 1, maxStep: 9, max: 9n, maxId: 3n, description: '' },
    { tag: 'order', maxStep: null, max: null },
    { tag: 'order', order: 'gapless', reset: 'daily', zone: 'UTC', pattern: '{seq}', reissue: true },
    { tag: 'order', interleave: { of: 2, remainder: 0, block: 1 } },
  ])('as an option may be %p', (declared) => {
    expect(newTagRule(declared, 'tags[0]')).toStrictEqual([]);
  });

  it.each([
    [undefined, []],
    ['order', ['tags[0] must be an object, not "order"']],
    [{}, ['tags[0].tag is required']],
    [{ tag: '' }, ['tags[0].tag must be a string that is not empty, not ""']],
    [{ tag: 'a b' }, ['tags[0] cannot be used: "a b" is not a valid tag']],
    [{ tag: 'a', step: 0 }, ['tags[0].step must be a whole number of 1 or more, not 0']],
    [{ tag: 'a', step: 2 ** 31 }, ['tags[0] cannot be used: The tag cannot be stored: step']],
    [{ tag: 'a', maxId: 1 }, ['tags[0].maxId must be a bigint such as 1n, not 1']],
    [{ tag: 'a', maxStep: 0 }, ['tags[0].maxStep must be a whole number of 1 or more, not 0']],
    [{ tag: 'a', max: 5 }, ['tags[0].max must be a bigint such as 1n, not 5']],
    [{ tag: 'a', order: 1 }, ['tags[0].order must be a string']],
    [{ tag: 'a', reset: 1 }, ['tags[0].reset must be a string']],
    [{ tag: 'a', zone: 1 }, ['tags[0].zone must be a string']],
    [{ tag: 'a', pattern: 1 }, ['tags[0].pattern must be a string']],
    [{ tag: 'a', reissue: 'yes' }, ['tags[0].reissue must be true or false, not "yes"']],
    [{ tag: 'a', description: 1 }, ['tags[0].description must be a string, not 1']],
    [{ tag: 'a', steps: 1 }, ['tags[0].steps is not an option; did you mean tags[0].step?']],
    [
      { tag: 'a', interleave: { of: 1, remainder: -1, block: 0 } },
      [
        'tags[0].interleave.of must be a whole number of 2 or more, not 1',
        'tags[0].interleave.remainder must be a whole number of 0 or more, not -1',
        'tags[0].interleave.block must be a whole number of 1 or more, not 0',
      ],
    ],
    [
      { tag: 'a', interleave: {} },
      ['of', 'remainder', 'block'].map((name) => `tags[0].interleave.${name} is required`),
    ],
  ])('as an option may not be %p', (declared, faults) => {
    const found = newTagRule(declared, 'tags[0]').map(({ path, fault }) => `${path} ${fault}`);
    expect(found).toEqual(faults.map((fault) => expect.stringContaining(fault) as string));
  });
});

const ROW: TagRow = {
  ...{ ...PLAIN_TAG, tag: 'order', maxId: 2001n, step: 2000, updatedAt: 1_700_000_000_000 },
  ...{ maxStep: undefined, max: undefined, description: undefined },
};
const JSON_OF_ROW = { tag: 'order', maxId: '2001', step: 2000, description: '', updatedAt: '2023-11-14T22:13:20.000Z' };

describe('jsonOfTag', () => {
  it('has only the settings of the tag', () => {
    expect(jsonOfTag(ROW)).toStrictEqual(JSON_OF_ROW);
  });

  it('has the form of the texts of a gapless tag', () => {
    const settings = { order: 'gapless', pattern: '{seq:5}', reissue: true } as const;
    expect(jsonOfTag({ ...ROW, ...settings })).toStrictEqual({ ...JSON_OF_ROW, ...settings });
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
