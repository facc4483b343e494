import { MAX_ID, sizeOf } from './id-range';

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
