import { type IdFormat, invalidId } from './id-format';

/** Says what the ID is of: `ord_2Bx`. */
export class PrefixedFormat implements IdFormat {
  /** @param prefix 1 to 32 lower-case letters and digits, a letter first; an underscore follows */
  constructor(
    private readonly prefix: string,
    private readonly inner: IdFormat,
  ) {
    if (/^[a-z][a-z0-9]{0,31}$/.test(prefix)) return;
    throw new RangeError('A prefix is 1 to 32 lower-case letters and digits, a letter first.');
  }

  format(id: bigint): string {
    return `${this.prefix}_${this.inner.format(id)}`;
  }

  parse(text: string): bigint {
    const begin = `${this.prefix}_`;
    if (!text.startsWith(begin)) throw invalidId(`it begins with ${begin}`);
    return this.inner.parse(text.slice(begin.length));
  }
}
