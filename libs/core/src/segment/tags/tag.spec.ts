import { LeafError } from '../../errors/leaf-error';
import { assertTag, isTag } from './tag';

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
