import { LeafError, MAX_ID } from '@leaf-ids/core';

/**
 * Parses a decimal ID.
 *
 * @throws LeafError `LEAF_ID_INVALID`
 */
export function parseId(given: unknown): bigint {
  if (typeof given === 'string' && /^\d{1,19}$/.test(given)) {
    const id = BigInt(given);
    if (id <= MAX_ID) return id;
  }
  throw new LeafError('LEAF_ID_INVALID', `The ID must be one decimal number from 0 to ${MAX_ID}.`);
}
