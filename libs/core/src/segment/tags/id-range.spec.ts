import { idsOf, MAX_ID, numberOf, numbersOf, sizeOf } from './id-range';

describe('sizeOf', () => {
  it.each([
    [1n, 1n, 1],
    [1n, 2000n, 2000],
    [1n, 0n, 0],
    [2n ** 53n - 1n, 2n ** 53n + 1n, 3],
    [MAX_ID - 999_999n, MAX_ID, 1_000_000],
  ])('%d to %d', (from, to, size) => {
    expect(sizeOf({ from, to })).toBe(size);
  });
});

it('MAX_ID is the largest signed 64-bit integer', () => {
  expect(BigInt.asIntN(64, MAX_ID)).toBe(MAX_ID);
  expect(BigInt.asIntN(64, MAX_ID + 1n)).toBeLessThan(0n);
});

it('idsOf lists the IDs of the ranges, both ends included', () => {
  const ranges = [
    { from: 1n, to: 3n },
    { from: MAX_ID, to: MAX_ID },
    { from: 5n, to: 4n },
  ];
  expect(idsOf(ranges)).toEqual([1n, 2n, 3n, MAX_ID]);
});

describe('numbers', () => {
  const largest = BigInt(Number.MAX_SAFE_INTEGER);

  it('are the IDs of the ranges, up to 2^53 - 1', () => {
    expect(numbersOf([])).toStrictEqual([]);
    expect(
      numbersOf([
        { from: 1n, to: 3n },
        { from: 7n, to: 7n },
      ]),
    ).toEqual([1, 2, 3, 7]);
    expect(numbersOf([{ from: largest - 1n, to: largest }])).toEqual([
      Number.MAX_SAFE_INTEGER - 1,
      Number.MAX_SAFE_INTEGER,
    ]);
  });

  it('are refused above, never rounded', () => {
    expect(numberOf(largest)).toBe(Number.MAX_SAFE_INTEGER);
    for (const id of [largest + 1n, largest + 2n, MAX_ID]) {
      const refusal = expect.objectContaining({ code: 'LEAF_ID_TOO_LARGE' }) as Error;
      expect(() => numberOf(id)).toThrow(refusal);
      expect(() => numbersOf([{ from: largest, to: id }])).toThrow(refusal);
    }
  });
});
