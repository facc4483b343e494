import { LeafError } from '@leaf-ids/core';
import { NO_NONCE, NONCE_PATTERN } from '@leaf-ids/core/internal';

/**
 * Parses the `nonce` parameter of a batch or range; {@link NO_NONCE} if omitted.
 *
 * @throws LeafError `LEAF_REQUEST_INVALID`
 */
export function parseNonce(given: unknown): string {
  if (given === undefined) return NO_NONCE;
  if (typeof given === 'string' && NONCE_PATTERN.test(given)) return given;
  throw new LeafError('LEAF_REQUEST_INVALID', 'The nonce must be 1 to 64 letters, digits, "-" or "_", given once.');
}
