import { assertBy, assertKey, assertPattern, assertReason, isSameNumbering, skippedKey } from './document-number';

const refused = (code: string): Error => expect.objectContaining({ code }) as Error;

describe('the key of a document', () => {
  it.each([
    'a',
    '發票 7',
    '🧾',
    'order 4711/1',
    'x'.repeat(128),
    '🧾'.repeat(128),
    '...',
    '.a',
    'audits',
    'a~',
    "' OR 1 --",
  ])('can be %j', (key) => expect(() => assertKey(key)).not.toThrow());

  it.each([
    ...[
      '',
      ' ',
      ' a',
      'a ',
      'a\n',
      '\ta',
      'a\u0000b',
      'a\u0085b',
      'a\u00adb',
      'a\u200bb',
      'a\u2028b',
      '\ud800',
      'a\ufeff',
    ],
    ...['~a', '~skipped~~1', '.', '..', 'audit', 'x'.repeat(129), 'a\u00a0b', 7, null, undefined, ['a']],
  ])('cannot be %j', (key) => expect(() => assertKey(key)).toThrow(refused('LEAF_REQUEST_INVALID')));

  it('is shown in the refusal, a long one in part', () => {
    expect(() => assertKey('a ')).toThrow('"a " is not a valid key of a document; use 1 to 128 printable characters');
    expect(() => assertKey(` ${'x'.repeat(39)}`)).toThrow(`" ${'x'.repeat(39)}" is not`);
    expect(() => assertKey(` ${'x'.repeat(40)}`)).toThrow(`" ${'x'.repeat(39)}…" is not`);
    expect(() => assertKey(7)).toThrow('7 is not');
  });

  it('cannot be that of a skipped number, which is another one for each number', () => {
    expect(() => assertKey(skippedKey('', 1n))).toThrow(refused('LEAF_REQUEST_INVALID'));
    const keys = [skippedKey('', 1n), skippedKey('', 2n), skippedKey('2026', 1n), skippedKey('2026-11', 1n)];
    expect(new Set(keys).size).toBe(4);
  });
});

describe('the reason of a void number', () => {
  it.each(['torn', ' torn ', 'x'.repeat(256), '🧾'.repeat(256)])('can be %j', (reason) =>
    expect(() => assertReason(reason)).not.toThrow(),
  );

  it.each(['', ' ', 'a\n', '\u0000', '\ud800', 'x'.repeat(257), 7, undefined])('cannot be %j', (reason) =>
    expect(() => assertReason(reason)).toThrow(refused('LEAF_BODY_INVALID')),
  );
});

it('the name in the journal has 1 to 64 characters, none of them a control character', () => {
  for (const by of ['a', 'the shop', '🧾'.repeat(64)]) expect(() => assertBy(by)).not.toThrow();
  for (const by of ['', 'x'.repeat(65), 'a\nb', '\ud800']) {
    expect(() => assertBy(by)).toThrow(refused('LEAF_REQUEST_INVALID'));
  }
});

it('a tag whose documents would get another period or text is another tag', () => {
  const one = {
    reset: 'yearly',
    zone: 'UTC',
    pattern: '{YYYY}{seq}',
    first: 1n,
    max: undefined,
    reissue: false,
  } as const;
  expect(isSameNumbering(one, { ...one, first: 5n, max: 9n, reissue: true })).toBe(true);
  for (const change of [{ reset: 'monthly' as const }, { zone: 'Asia/Tokyo' }, { pattern: undefined }]) {
    expect(isSameNumbering(one, { ...one, ...change })).toBe(false);
  }
});

it('a new tag has a pattern for its periods, or none', () => {
  expect(() => assertPattern({})).not.toThrow();
  expect(() => assertPattern({ reset: 'yearly', pattern: '{YYYY}-{seq}' })).not.toThrow();
  expect(() => assertPattern({ reset: 'yearly', pattern: '{seq}' })).toThrow(refused('LEAF_BODY_INVALID'));
  expect(() => assertPattern({ reset: 'yearly', pattern: '{seq}' })).toThrow('must contain {YYYY}');
});
