import { MAX_ID } from './id-range';
import { assertTag, isOrdered, isTag, RESETS, settingFault, tagKind, tagRule } from './tag-settings';
import { LeafError } from '../../errors/leaf-error';

describe('The settings of a tag', () => {
  const interleave = { of: 2, remainder: 1, block: 100 };

  it.each([
    {},
    { step: 1, maxStep: 1 },
    { maxStep: null, max: null },
    { max: MAX_ID - 1n },
    { max: 1n },
    { step: 2_147_483_647, maxStep: 2_147_483_647 },
    { order: 'strict', reset: 'yearly', zone: 'Asia/Shanghai' },
    { reset: 'daily', zone: 'Etc/UTC' },
    { reset: 'daily', zone: 'GMT' },
    { reset: 'weekly' },
    { reset: 'fiscal:04-01' },
    { reset: 'fiscal:12-31', zone: 'Asia/Tokyo' },
    { reset: 'daily', zone: 'Etc/GMT' },
    { order: 'gapless', pattern: '{seq}', reissue: true },
    { order: 'relaxed', interleave },
    { interleave: { of: 2, remainder: 0, block: 1 } },
    { interleave: { of: 1000, remainder: 999, block: 2_147_483_647 } },
  ] as const)('can be %p', (settings) => {
    expect(settingFault(settings)).toBeUndefined();
  });

  it.each([
    [{ step: 0 }, 'step'],
    [{ step: 10, maxStep: 9 }, 'maxStep must not be less'],
    [{ maxStep: 2.5 }, 'maxStep'],
    [{ maxStep: 0 }, 'maxStep must be a whole number'],
    [{ maxStep: 2_147_483_648 }, 'maxStep must be a whole number'],
    [{ order: 'loose' as never }, 'order must be one of relaxed, strict, gapless'],
    [{ order: 'strict', pattern: '{seq}' }, 'pattern and reissue require the order gapless'],
    [{ reissue: false }, 'pattern and reissue require the order gapless'],
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
    [{ reset: 'daily', zone: 'EST5EDT' }, 'zone must be UTC or name an area and a city'],
    [{ reset: 'daily', zone: 'Etc/GMT+8' }, 'the opposite of the usual one'],
    [{ reset: 'daily', zone: 'etc/gmt-8' }, 'the opposite of the usual one'],
    [{ reset: 'daily', zone: 'Etc/Greenwich' }, 'not Etc/Greenwich: it has several meanings'],
    [{ interleave, order: 'strict' }, 'interleave cannot be combined'],
    [{ interleave, order: 'gapless' }, 'interleave cannot be combined'],
    [{ interleave, reset: 'daily' }, 'interleave cannot be combined'],
    [{ interleave, max: 5n }, 'interleave cannot be combined'],
    [{ interleave: { ...interleave, of: 1 } }, 'interleave.of'],
    [{ interleave: { ...interleave, of: 1001 } }, 'interleave.of'],
    [{ interleave: { ...interleave, of: 2.5 } }, 'interleave.of'],
    [{ interleave: { ...interleave, remainder: 2 } }, 'interleave.remainder'],
    [{ interleave: { ...interleave, remainder: -1 } }, 'interleave.remainder'],
    [{ interleave: { ...interleave, block: 0 } }, 'interleave.block'],
    [{ interleave: { ...interleave, block: 2_147_483_648 } }, 'interleave.block'],
  ] as const)('cannot be %p', (settings, fault) => {
    expect(settingFault(settings)).toContain(fault);
  });

  it('of a row that exists keep a zone that a new tag may not have', () => {
    const kind = { order: 'relaxed', reset: 'daily', zone: 'Etc/GMT+8', interleave: undefined };
    expect(tagKind('a', kind)).toEqual(kind);
  });

  it('of a row without an order are those of a relaxed tag', () => {
    const row = { order: undefined, reset: undefined, zone: undefined, interleave };
    expect(tagKind('a', row)).toEqual({ ...row, order: 'relaxed' });
  });

  it('are refused if a row has invalid values', () => {
    const row = { order: 'weekly', reset: undefined, zone: undefined, interleave: undefined };
    expect(() => tagKind('a', row)).toThrow(expect.objectContaining({ code: 'LEAF_TAG_ROW_INVALID' }));
    expect(() => tagKind('a', { ...row, order: undefined, reset: 'hourly' })).toThrow(
      /reset must be one of .* upgrade/,
    );
  });
});

describe('The day on which a fiscal year begins', () => {
  const month = (number: number): string => String(number).padStart(2, '0');
  const begin = (day: string): string | undefined => settingFault({ reset: `fiscal:${day}` });

  it('is any day that each year has', () => {
    for (let number = 1; number <= 12; number++) {
      // Of a year without a February 29.
      const days = new Date(Date.UTC(2026, number, 0)).getUTCDate();
      for (let day = 1; day <= days; day++) expect(begin(`${month(number)}-${month(day)}`)).toBeUndefined();
      for (const day of [0, days + 1])
        expect(begin(`${month(number)}-${month(day)}`)).toContain('reset must be one of');
    }
  });

  it.each(['00-01', '13-01', '20-01', '1-01', '04-1', '04-01 ', '04-011', '02-32', 'x4-01'])('is not %j', (day) => {
    expect(begin(day)).toContain('reset must be one of');
  });
});

it.each([...RESETS.map((reset) => `${reset}s`), ' daily', '', undefined, null, 1])(
  'a tag does not restart %j',
  (reset) => {
    const kind = { order: 'relaxed', reset, zone: undefined, interleave: undefined };
    if (reset === undefined) expect(tagKind('a', kind)).toEqual(kind);
    else expect(() => tagKind('a', kind)).toThrow('reset must be one of');
  },
);

it('the IDs of strict and gapless tags ascend over all servers', () => {
  expect((['relaxed', 'strict', 'gapless', undefined] as const).map(isOrdered)).toEqual([false, true, true, false]);
});

it('an option that is a tag follows its rule', () => {
  expect(tagRule('order', 'tag')).toStrictEqual([]);
  expect(tagRule(5, 'tag')).toEqual([{ path: 'tag', fault: 'must be a string that is not empty, not 5' }]);
  expect(tagRule('a b', 'tag')).toMatchObject([
    { path: 'tag', fault: expect.stringContaining('"a b" is not a valid tag') },
  ]);
});

describe('tag', () => {
  it.each([
    ...['a', 'Z', '0', 'order', 'leaf-segment-test', 'a.b_c:d-e', '-', 'x'.repeat(128)],
    ...['...', '....', '..a', '..ab', '..a.b', `..${'x'.repeat(126)}`],
    ...['.a', '.ab', '.a.b', `.${'x'.repeat(127)}`],
  ])('takes %j', (text) => {
    expect(isTag(text)).toBe(true);
    expect(() => assertTag(text)).not.toThrow();
  });

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
    '.é',
    '.a b',
    '..é',
    '..a b',
    'x'.repeat(129),
    `.${'x'.repeat(128)}`,
    `..${'x'.repeat(127)}`,
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
