import { type IdFormat, invalidId } from './id-format';

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
