import { LeafError } from '@leaf-ids/core';

/**
 * Parses the `size` parameter of a batch or range, from 1 to `maximum`; 1 if omitted.
 *
 * @throws LeafError `LEAF_SIZE_INVALID`
 */
export function parseSize(given: unknown, maximum: number): number {
  if (given === undefined) return 1;
  const size = typeof given === 'string' && /^[1-9]\d{0,8}$/.test(given) ? Number(given) : Infinity;
  if (size <= maximum) return size;
  throw new LeafError('LEAF_SIZE_INVALID', `The size must be one whole number from 1 to ${maximum}.`);
}
