import {
  BitLayout,
  DatedFormat,
  DEFAULT_LAYOUT,
  type IdFormat,
  MAX_ID,
  PrefixedFormat,
  RadixFormat,
  SnowflakeDateFormat,
} from '@leaf-ids/core';
import { defaultLayout } from '@leaf-ids/core/internal';
import fc from 'fast-check';
import { runs } from '../../support/runs';

const REFUSED = expect.objectContaining({ name: 'LeafError', code: 'LEAF_ID_INVALID' });
const id = fc.oneof(fc.bigInt(0n, MAX_ID), fc.bigInt(0n, 5000n), fc.constantFrom(0n, 1n, MAX_ID - 1n, MAX_ID));

const base36 = new RadixFormat({ base: 36 });
const base62 = new RadixFormat({ base: 62 });
const layout = defaultLayout();
const formats: [string, IdFormat][] = [
  ['base 10, fixed', new RadixFormat({ base: 10, width: 'fixed' })],
  ['base 36', base36],
  ['base 62', base62],
  ['base 36, fixed', new RadixFormat({ base: 36, width: 'fixed' })],
  ['base 62, fixed', new RadixFormat({ base: 62, width: 'fixed' })],
  ['a prefix', new PrefixedFormat('ord', base62)],
  ['the day of a snowflake', new SnowflakeDateFormat(layout)],
];
const sorted = formats.filter(([name]) => /fixed|day/.test(name));

describe.each(formats)('%s', (_name, format) => {
  it('gives back what it was given', () => {
    fc.assert(fc.property(id, (one) => expect(format.parse(format.format(one))).toBe(one)));
  });

  it('reads only what it would have written', () => {
    const digit = fc.constantFrom(...'09aAzZ_- 8ordé1207'.split(''));
    const text = fc.oneof(
      fc.string(),
      fc.array(digit, { maxLength: 24 }).map((digits) => digits.join('')),
      fc.tuple(id, fc.nat(22), digit).map(([one, at, other]) => {
        const written = format.format(one);
        return written.slice(0, at) + other + written.slice(at + 1);
      }),
    );
    fc.assert(
      fc.property(text, (one) => {
        let read: bigint;
        try {
          read = format.parse(one);
        } catch (error) {
          expect(error).toEqual(REFUSED);
          return;
        }
        expect(format.format(read)).toBe(one);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('refuses what is no ID', () => {
    for (const wrong of [-1n, MAX_ID + 1n]) expect(() => format.format(wrong)).toThrow(REFUSED);
    for (const wrong of ['', ' ', '-1', '1.0', '0x1', 'x'.repeat(1000)])
      expect(() => format.parse(wrong)).toThrow(REFUSED);
  });
});

it.each(sorted)('%s sorts as the IDs do', (_name, format) => {
  fc.assert(
    fc.property(id, id, (one, other) => {
      expect(Math.sign(compare(format.format(one), format.format(other)))).toBe(Math.sign(Number(one - other)));
    }),
  );
});

it('is written as people expect', () => {
  expect(base36.format(MAX_ID)).toBe('1y2p0ij32e8e7');
  expect(base62.format(MAX_ID)).toBe('AzL8n0Y58m7');
  expect(new RadixFormat({ base: 62, width: 'fixed' }).format(61n)).toBe('0000000000z');
  expect(new RadixFormat({ base: 10, width: 6 }).format(42n)).toBe('000042');
  expect(new PrefixedFormat('ord', base36).format(35n)).toBe('ord_z');
  const snowflake = new SnowflakeDateFormat(layout);
  expect(snowflake.format(1_169_786_042_799_259_000n)).toMatch(/^20190906-[0-9a-z]{10}$/);
  expect(snowflake.format(0n)).toBe('20101104-0000000000');
});

it('refuses texts that stand for a number twice, or for too large a number', () => {
  expect(() => base36.parse('01')).toThrow(REFUSED);
  expect(() => base36.parse('A')).toThrow(REFUSED);
  expect(() => base36.parse('1y2p0ij32e8e8')).toThrow(REFUSED);
  expect(() => base62.parse('AzL8n0Y58m8')).toThrow(REFUSED);
  expect(() => new RadixFormat({ base: 10, width: 6 }).parse('42')).toThrow(REFUSED);
  expect(() => new RadixFormat({ base: 10, width: 6 }).format(1_000_000n)).toThrow(REFUSED);
  expect(() => new PrefixedFormat('ord', base36).parse('inv_z')).toThrow(REFUSED);
});

describe('a day', () => {
  const snowflake = new SnowflakeDateFormat(layout);
  const dated = new DatedFormat(new RadixFormat({ base: 10, width: 6 }));

  it('is the one of the ID, in UTC', () => {
    const at = (timestamp: number): string => snowflake.format(layout.compose({ timestamp, workerId: 0, sequence: 0 }));
    const midnight = Date.UTC(2026, 10, 22);
    expect(at(midnight - 1)).toMatch(/^20261121-/);
    expect(at(midnight)).toBe('20261122-0000000000');
  });

  it('has to be one, and to hold the ID', () => {
    const last = layout.compose({ timestamp: Date.UTC(2026, 10, 22) - 1, workerId: 1023, sequence: 4095 });
    const rest = (text: string): string => text.slice(9);
    const beyond = (BigInt(Number.parseInt(rest(snowflake.format(last)), 36)) + 1n).toString(36).padStart(10, '0');
    for (const wrong of [
      `20261121-${beyond}`,
      '20261131-0000000000',
      '20260229-0000000000',
      '20101103-0000000000',
      '99991231-0000000000',
      '20261121_0000000000',
      '20261121-',
    ]) {
      expect(() => snowflake.parse(wrong)).toThrow(REFUSED);
    }
  });

  it('is added to an ID that carries none', () => {
    expect(dated.format(42n, Date.UTC(2026, 10, 21, 23, 59))).toBe('20261121-000042');
    expect(dated.parse('20261121-000042')).toEqual({ id: 42n, day: Date.UTC(2026, 10, 21) });
    expect(dated.format(42n, 0)).toBe('19700101-000042');
    expect(dated.parse('19700101-000042')).toEqual({ id: 42n, day: 0 });
    for (const wrong of ['20261121000042', '20261121_000042', '20261301-000042', '2026121-000042', '20261121-42']) {
      expect(() => dated.parse(wrong)).toThrow(REFUSED);
    }
    expect(() => dated.format(42n, -1)).toThrow(REFUSED);
    expect(() => dated.format(42n, NaN)).toThrow(REFUSED);
    expect(() => dated.format(42n, Date.UTC(10_000, 0, 1))).toThrow(REFUSED);
  });

  it.each([
    ['with few workers', { epoch: Date.UTC(2020, 0, 1), workerBits: 1 }],
    ['with few IDs in a millisecond', { epoch: Date.UTC(2020, 0, 1), sequenceBits: 1 }],
    ['whose last millisecond begins a day', { epoch: Date.UTC(2100, 0, 1) - 2 ** 41 + 1 }],
  ])('has one text for each ID of a layout %s, up to its last', (_, own) => {
    const narrow = new BitLayout({ ...DEFAULT_LAYOUT, ...own });
    const format = new SnowflakeDateFormat(narrow);
    const first = narrow.compose({ timestamp: narrow.epoch, workerId: 0, sequence: 0 });
    for (const one of [first, narrow.maxId]) expect(format.parse(format.format(one))).toBe(one);
  });

  it('before the first one of a layout is refused: its IDs would have two texts', () => {
    const format = new SnowflakeDateFormat(new BitLayout({ ...DEFAULT_LAYOUT, epoch: Date.UTC(2020, 0, 1) }));
    expect(format.parse('20200101-0000000000')).toBe(0n);
    expect(() => format.parse('20191231-0000000000')).toThrow(REFUSED);
  });

  it('beyond the year 9999 is refused', () => {
    const late = new BitLayout({ ...DEFAULT_LAYOUT, timeBits: 48, workerBits: 7, sequenceBits: 8 });
    expect(() => new SnowflakeDateFormat(late).format(late.maxId)).toThrow(REFUSED);
  });
});

it('refuses options that make no format', () => {
  for (const width of [1, 64]) expect(new RadixFormat({ base: 36, width }).format(7n)).toBe('7'.padStart(width, '0'));
  for (const width of [0, 1.5, 65]) expect(() => new RadixFormat({ base: 36, width })).toThrow(RangeError);
  for (const prefix of ['', 'Ord', '1a', 'a_b', 'a'.repeat(33)])
    expect(() => new PrefixedFormat(prefix, base36)).toThrow(RangeError);
});

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
