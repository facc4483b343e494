import { LeafError } from '@leaf-ids/core';

/**
 * The `size` parameter of a batch or range, from 1 to `most`; 1 when it is not given.
 *
 * @throws LeafError `LEAF_SIZE_INVALID`
 */
export function parseSize(given: unknown, most: number): number {
  if (given === undefined) return 1;
  const size = typeof given === 'string' && /^[1-9]\d{0,8}$/.test(given) ? Number(given) : Infinity;
  if (size <= most) return size;
  throw new LeafError('LEAF_SIZE_INVALID', `The size must be one whole number from 1 to ${most}.`);
}
