import { LeafError } from '../errors/leaf-error';
import { MAX_ID } from '../segment/tags/id-range';

/**
 * A text form of the IDs from 0 to 2^63 - 1. Each ID has exactly one text: `parse` rejects texts that `format` does not
 * produce.
 */
export interface IdFormat<Text extends string = string> {
  /** @throws LeafError `LEAF_ID_INVALID` when the ID does not fit */
  format(id: bigint): Text;
  /** @throws LeafError `LEAF_ID_INVALID` */
  parse(text: string): bigint;
}

export function invalidId(problem: string): LeafError {
  return new LeafError('LEAF_ID_INVALID', `Invalid ID: ${problem}.`);
}

/** @throws LeafError `LEAF_ID_INVALID` */
export function assertId(id: bigint, most = MAX_ID): void {
  if (id < 0n || id > most) throw invalidId(`expected a number from 0 to ${most}`);
}
