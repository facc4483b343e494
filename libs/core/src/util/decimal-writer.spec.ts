import { DecimalWriter } from './decimal-writer';

describe('DecimalWriter', () => {
  const BASES = [
    0n,
    1n,
    9n,
    4095n,
    9_999n,
    10_000n,
    10_001n,
    5_905_000n,
    99_999_999n,
    2n ** 53n - 1n,
    1_169_786_042_799_255_552n,
    2n ** 63n - 1n - 4_194_303n,
  ];
  const OFFSETS = [0, 1, 9, 10, 999, 4_095, 4_448, 9_998, 9_999, 10_000, 10_001, 19_999, 20_000, 65_535, 4_194_303];

  it.each(BASES)('writes base %s plus offsets as BigInt does', (base) => {
    const writer = new DecimalWriter();
    writer.rebase(base);
    for (const offset of [...OFFSETS, ...OFFSETS.toReversed()]) {
      expect(writer.write(offset)).toBe(String(base + BigInt(offset)));
    }
  });

  it('writes every number across two group borders', () => {
    const writer = new DecimalWriter();
    writer.rebase(1_169_786_042_799_258_000n);
    for (let offset = 0; offset < 21_000; offset++) {
      if (writer.write(offset) !== String(1_169_786_042_799_258_000n + BigInt(offset))) throw new Error(String(offset));
    }
  });

  it('keeps the zeros within a number and writes none before it', () => {
    const writer = new DecimalWriter();
    expect(writer.write(7)).toBe('7');
    writer.rebase(120_000n);
    expect(writer.write(7)).toBe('120007');
  });

  it('forgets the base before', () => {
    const writer = new DecimalWriter();
    writer.rebase(123_450_000n);
    expect(writer.write(1)).toBe('123450001');
    writer.rebase(990_000n);
    expect(writer.write(1)).toBe('990001');
    writer.rebase(770_000n);
    expect(writer.write(10_001)).toBe('780001');
    writer.rebase(0n);
    expect(writer.write(1)).toBe('1');
  });

  it('writes the highest offset', () => {
    const writer = new DecimalWriter();
    writer.rebase(9_999n);
    expect(writer.write(2 ** 31 - 10_001)).toBe(String(9_999 + 2 ** 31 - 10_001));
  });

  it.each(BASES.slice(0, -1))('writes runs from base %s on as BigInt does', (base) => {
    const writer = new DecimalWriter();
    writer.rebase(base);
    for (const count of [1, 2, 9_999, 10_000, 10_001, 25_000]) {
      const ids = Array.from({ length: count }, (_, offset) => String(base + BigInt(offset)));
      expect(writer.writeRun(count, '", "') === ids.join('", "')).toBe(true);
    }
  });
});
