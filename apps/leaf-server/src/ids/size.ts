import { LeafError } from '@leaf/core';

/**
 * The `size` parameter of a batch or range; 1 when it is not given. The highest allowed size is the service's matter.
 *
 * @throws LeafError `LEAF_SIZE_INVALID`
 */
export function parseSize(given: unknown, most: number): number {
  if (given === undefined) return 1;
  if (typeof given === 'string' && /^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new LeafError('LEAF_SIZE_INVALID', `The size must be one whole number from 1 to ${most}.`);
}
