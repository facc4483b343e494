import { MAX_ID } from '../segment/tags/id-range';
import { assertId, type IdFormat, invalidId } from './id-format';

/** In ASCII order, so that texts of the same width sort like their IDs. */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const ALPHABETS = { 10: DIGITS.slice(0, 10), 36: DIGITS.slice(0, 10) + DIGITS.slice(36), 62: DIGITS } as const;

export interface RadixFormatOptions {
  /** 36 uses lower-case letters only. 62 is shorter, but needs case-sensitive comparison. */
  readonly base: keyof typeof ALPHABETS;
  /**
   * `shortest` by default. A number of digits, or `fixed` for the number of digits of the largest ID, pads with zeros;
   * such texts sort like their IDs.
   */
  readonly width?: 'shortest' | 'fixed' | number;
}

/** Writes IDs in base 10, 36 or 62. */
export class RadixFormat implements IdFormat {
  private readonly alphabet: string;
  private readonly base: bigint;
  private readonly values: ReadonlyMap<string, bigint>;
  /** Undefined: no padding. */
  private readonly width: number | undefined;

  constructor({ base, width = 'shortest' }: RadixFormatOptions) {
    this.alphabet = ALPHABETS[base];
    this.base = BigInt(base);
    this.values = new Map(this.alphabet.split('').map((digit, value) => [digit, BigInt(value)]));
    this.width = typeof width === 'number' ? width : width === 'fixed' ? this.digits(MAX_ID).length : undefined;
    if (this.width !== undefined && !(Number.isInteger(this.width) && this.width >= 1 && this.width <= 64)) {
      throw new RangeError(`The width must be a whole number from 1 to 64, not ${this.width}.`);
    }
  }

  format(id: bigint): string {
    assertId(id);
    const digits = this.digits(id);
    if (this.width === undefined) return digits;
    if (digits.length > this.width) throw invalidId(`it needs ${digits.length} digits, but the width is ${this.width}`);
    return digits.padStart(this.width, '0');
  }

  parse(text: string): bigint {
    if (this.width !== undefined && text.length !== this.width) throw invalidId(`expected ${this.width} digits`);
    if (text.length === 0 || text.length > 64) throw invalidId('expected 1 to 64 digits');
    if (this.width === undefined && text.length > 1 && text.startsWith('0')) throw invalidId('it has a leading zero');
    let id = 0n;
    for (const digit of text) {
      const value = this.values.get(digit);
      if (value === undefined) throw invalidId(`expected only the digits ${this.alphabet}`);
      id = id * this.base + value;
    }
    assertId(id);
    return id;
  }

  private digits(id: bigint): string {
    if (this.base !== 62n) return id.toString(Number(this.base));
    let text = '';
    do {
      text = this.alphabet.charAt(Number(id % 62n)) + text;
      id /= 62n;
    } while (id > 0n);
    return text;
  }
}
