import { type IdFormat, IdPermutation, PermutedFormat, PrefixedFormat, RadixFormat } from '@leaf-ids/core';

/** What a customer sees: `ord_73519028`. It does not tell how many orders there are. */
export function createOrderNumbers(key: Uint8Array): IdFormat {
  const permutation = new IdPermutation({ key, below: 100_000_000n });
  const digits = new RadixFormat({ base: 10, width: 8 });
  return new PrefixedFormat('ord', new PermutedFormat(permutation, digits));
}
