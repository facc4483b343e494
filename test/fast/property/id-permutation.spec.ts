import { IdPermutation, MAX_ID, PermutedFormat, RadixFormat } from '@leaf-ids/core';
import fc from 'fast-check';
import { runs } from '../../support/runs';

const REFUSED = expect.objectContaining({ code: 'LEAF_ID_INVALID' });
const key = (text = 'a secret of 16 bytes or more'): Uint8Array => Buffer.from(text);
const bytes = fc.uint8Array({ minLength: 16, maxLength: 40 });
const id = fc.oneof(fc.bigInt(0n, MAX_ID), fc.bigInt(0n, 5000n), fc.constantFrom(0n, MAX_ID));

describe('a permutation of IDs', () => {
  it('of 63 bits stays in its range and can be undone', () => {
    const permutation = new IdPermutation({ key: key() });
    fc.assert(
      fc.property(id, (one) => {
        const permuted = permutation.permute(one);
        expect(permuted >= 0n && permuted <= MAX_ID).toBe(true);
        expect(permutation.restore(permuted)).toBe(one);
        expect(permutation.permute(permutation.restore(one))).toBe(one);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('of any range stays in it and can be undone', () => {
    const bound = fc.oneof(
      fc.bigInt(2n, MAX_ID + 1n),
      fc.bigInt(2n, 1000n),
      fc.constantFrom(10n ** 6n, 2n ** 32n, 10n ** 18n),
    );
    fc.assert(
      fc.property(bound, id, bytes, (below, one, secret) => {
        const permutation = new IdPermutation({ key: secret, below });
        const permuted = permutation.permute(one % below);
        expect(permuted >= 0n && permuted < below).toBe(true);
        expect(permutation.restore(permuted)).toBe(one % below);
      }),
      { numRuns: runs(500) },
    );
  });

  it.each([2, 3, 10, 97, 1000, 5041])('of the %i numbers below a bound gives each of them once', (count) => {
    const permutation = new IdPermutation({ key: key(), below: BigInt(count) });
    const all = Array.from({ length: count }, (_, n) => permutation.permute(BigInt(n)));
    expect(new Set(all).size).toBe(count);
    for (const one of all) expect(one >= 0n && one < BigInt(count)).toBe(true);
  });

  it('is another one for another key, and for another range', () => {
    const numbers = Array.from({ length: 200 }, (_, n) => BigInt(n));
    const order = (secret: string, below: bigint): bigint[] => {
      const permutation = new IdPermutation({ key: key(secret), below });
      return numbers.map((one) => permutation.permute(one));
    };
    const first = order('the first secret of them', 10n ** 9n);
    const others = [order('the 2nd secret of them all', 10n ** 9n), order('the first secret of them', 10n ** 9n + 1n)];
    for (const other of others) expect(other.filter((one, n) => one === first[n]).length).toBeLessThan(3);
  });

  it('tells neither the order nor the number of IDs', () => {
    const permutation = new IdPermutation({ key: key(), below: 10n ** 9n });
    const count = 4000;
    const permuted = Array.from({ length: count }, (_, n) => permutation.permute(BigInt(n)));
    const rising = permuted.filter((one, n) => n > 0 && one > permuted[n - 1]!).length;
    // Half of the steps of a random order rise: 2000, with a deviation of 18.
    expect(rising).toBeGreaterThan(1800);
    expect(rising).toBeLessThan(2200);
    const buckets = new Array<number>(10).fill(0);
    for (const one of permuted) buckets[Number(one / 10n ** 8n)]!++;
    // 400 in each of them, with a deviation of 19.
    for (const bucket of buckets) expect(Math.abs(bucket - 400)).toBeLessThan(130);
    const steps = new Set(permuted.map((one, n) => (n === 0 ? one : one - permuted[n - 1]!)));
    expect(steps.size).toBeGreaterThan(count - 10);
  });

  it('stays the same from release to release', () => {
    const whole = new IdPermutation({ key: key() });
    const small = new IdPermutation({ key: key(), below: 10n ** 8n });
    expect([1n, 2n, MAX_ID].map((one) => whole.permute(one))).toMatchInlineSnapshot(`
     [
       7168063837409907797n,
       686845080881461023n,
       4221271638995012842n,
     ]
    `);
    expect([0n, 1n, 99_999_999n].map((one) => small.permute(one))).toMatchInlineSnapshot(`
     [
       89253182n,
       34547858n,
       93673021n,
     ]
    `);
    // The halves differ in size.
    const uneven = new IdPermutation({ key: key(), below: 12n });
    expect(Array.from({ length: 12 }, (_, one) => uneven.permute(BigInt(one))).join(' ')).toBe(
      '1 6 2 11 7 8 9 4 10 3 5 0',
    );
  });

  it('refuses what it has no place for', () => {
    const permutation = new IdPermutation({ key: key(), below: 1000n });
    for (const wrong of [-1n, 1000n]) {
      expect(() => permutation.permute(wrong)).toThrow(REFUSED);
      expect(() => permutation.restore(wrong)).toThrow(REFUSED);
    }
    expect(() => new IdPermutation({ key: key('short') })).toThrow(RangeError);
    for (const below of [0n, 1n, MAX_ID + 2n])
      expect(() => new IdPermutation({ key: key(), below })).toThrow(RangeError);
  });

  it('is written in any form', () => {
    const permutation = new IdPermutation({ key: key(), below: 10n ** 8n });
    const numbers = new PermutedFormat(permutation, new RadixFormat({ base: 10, width: 8 }));
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 8n - 1n), (one) => {
        expect(numbers.format(one)).toMatch(/^\d{8}$/);
        expect(numbers.parse(numbers.format(one))).toBe(one);
      }),
    );
    const wide = new PermutedFormat(permutation, new RadixFormat({ base: 36 }));
    expect(() => wide.parse('zzzzzzz')).toThrow(REFUSED);
  });
});
