import { MAX_ID } from './id-range';
import { settingFault, tagKind, assertTag, isTag } from './tag-settings';
import { LeafError } from '../../errors/leaf-error';

describe('The settings of a tag', () => {
  const interleave = { of: 2, remainder: 1, block: 100 };

  it.each([
    {},
    { step: 1, maxStep: 1 },
    { maxStep: null, max: null },
    { max: MAX_ID - 1n },
    { order: 'strict', reset: 'yearly', zone: 'Asia/Shanghai' },
    { reset: 'daily', zone: 'Etc/UTC' },
    { reset: 'daily', zone: 'GMT' },
    { reset: 'weekly' },
    { reset: 'fiscal:04-01' },
    { reset: 'fiscal:12-31', zone: 'Asia/Tokyo' },
    { interleave },
  ] as const)('can be %p', (settings) => {
    expect(settingFault(settings)).toBeUndefined();
  });

  it.each([
    [{ step: 0 }, 'step'],
    [{ step: 10, maxStep: 9 }, 'maxStep must not be less'],
    [{ maxStep: 2.5 }, 'maxStep'],
    [{ max: MAX_ID }, 'max must'],
    [{ max: 0n }, 'max must'],
    [{ zone: 'UTC' }, 'zone requires reset'],
    [{ reset: ['daily'] as never }, 'reset must be one of'],
    [{ reset: 'fiscal:02-29' }, 'reset must be one of'],
    [{ reset: 'fiscal:4-1' }, 'reset must be one of'],
    [{ reset: 'fiscal:06-31' }, 'reset must be one of'],
    [{ reset: 'daily', zone: 'Mars/Olympus' }, 'zone must be'],
    [{ reset: 'daily', zone: 'x'.repeat(65) }, 'zone must be'],
    [{ reset: 'daily', zone: 'CST6CDT' }, 'not CST6CDT: it has several meanings'],
    [{ reset: 'daily', zone: 'Etc/GMT+8' }, 'the opposite of the usual one'],
    [{ interleave, order: 'strict' }, 'interleave cannot be combined'],
    [{ interleave, reset: 'daily' }, 'interleave cannot be combined'],
    [{ interleave, max: 5n }, 'interleave cannot be combined'],
    [{ interleave: { ...interleave, of: 1 } }, 'interleave.of'],
    [{ interleave: { ...interleave, remainder: 2 } }, 'interleave.remainder'],
    [{ interleave: { ...interleave, block: 0 } }, 'interleave.block'],
  ] as const)('cannot be %p', (settings, fault) => {
    expect(settingFault(settings)).toContain(fault);
  });

  it('of a row that exists keep a zone that a new tag may not have', () => {
    const kind = { order: 'relaxed', reset: 'daily', zone: 'Etc/GMT+8', interleave: undefined };
    expect(tagKind('a', kind)).toEqual(kind);
  });

  it('are refused if a row has invalid values', () => {
    const row = { order: 'weekly', reset: undefined, zone: undefined, interleave: undefined };
    expect(() => tagKind('a', row)).toThrow(expect.objectContaining({ code: 'LEAF_TAG_ROW_INVALID' }));
    expect(() => tagKind('a', { ...row, order: undefined, reset: 'hourly' })).toThrow(
      /reset must be one of .* upgrade/,
    );
  });
});

describe('tag', () => {
  it.each(['a', 'Z', '0', 'order', 'leaf-segment-test', 'a.b_c:d-e', '-', '...', '.a', '..a', 'x'.repeat(128)])(
    'takes %j',
    (text) => {
      expect(isTag(text)).toBe(true);
      expect(() => assertTag(text)).not.toThrow();
    },
  );

  it.each([
    '',
    '.',
    '..',
    ' ',
    'a b',
    ' order',
    'order ',
    'order\n',
    'order\0',
    'a/b',
    'a\\b',
    "o'brien",
    '"order"',
    'a;b',
    'a%20b',
    'größe',
    'заказ',
    '订单',
    'ｏｒｄｅｒ',
    '😀',
    'x'.repeat(129),
  ])('refuses %j', (text) => {
    expect(isTag(text)).toBe(false);
    expect(() => assertTag(text)).toThrow(expect.objectContaining({ code: 'LEAF_TAG_INVALID' }) as LeafError);
  });

  it('repeats only the beginning of a long one, and escapes it', () => {
    const refusalOf = (text: string): LeafError => {
      try {
        assertTag(text);
      } catch (error) {
        if (error instanceof LeafError) return error;
      }
      throw new Error('not refused');
    };
    expect(refusalOf('a b').message).toContain('"a b" is not a valid tag; use 1 to 128 letters');
    expect(refusalOf(`${'y'.repeat(39)}!`).message).toContain(`"${'y'.repeat(39)}!" is`);
    expect(refusalOf(`${'y'.repeat(5000)}!`).message).toContain(`"${'y'.repeat(40)}…" is`);
    expect(refusalOf('a\r\nSet-Cookie: b').message).not.toMatch(/[\r\n]/);
  });
});
