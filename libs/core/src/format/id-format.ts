import { LeafError } from '../errors/leaf-error';
import { MAX_ID } from '../segment/tags/id-range';

/** Adds a prefix that names the type of the ID: `ord_2Bx`. The type of the texts contains the prefix. */
export class PrefixedFormat<Prefix extends string = string> implements IdFormat<`${Prefix}_${string}`> {
  /** @param prefix 1 to 32 lower-case letters and digits, starting with a letter; followed by an underscore */
  constructor(
    private readonly prefix: Prefix,
    private readonly inner: IdFormat,
  ) {
    if (/^[a-z][a-z0-9]{0,31}$/.test(prefix)) return;
    throw new RangeError('The prefix must be 1 to 32 lower-case letters and digits and start with a letter.');
  }

  format(id: bigint): `${Prefix}_${string}` {
    return `${this.prefix}_${this.inner.format(id)}`;
  }

  parse(text: string): bigint {
    const begin = `${this.prefix}_`;
    if (!text.startsWith(begin)) throw invalidId(`expected prefix ${begin}`);
    return this.inner.parse(text.slice(begin.length));
  }
}

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
