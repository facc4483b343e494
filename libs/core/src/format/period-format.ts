import type { PeriodNumber } from '../service/id-service';
import { MAX_ID } from '../segment/tags/id-range';
import { PERIOD_SHAPES, periodOf } from '../segment/tags/periods';
import type { TagReset } from '../segment/tags/tag-settings';
import { assertId, invalidId } from './id-format';

export interface PeriodFormatOptions {
  /**
   * 1 to 32 letters and digits, starting with a letter; followed by a dash. If omitted, the text starts with the
   * period.
   */
  readonly prefix?: string;
  /** The `reset` of the tag. Determines the length of the period in the text. */
  readonly reset: TagReset;
  /** Minimum number of digits, 1 to 19; shorter numbers are padded with zeros. 1 by default. */
  readonly digits?: number;
}

/**
 * Writes numbers of a tag that restarts with each period: `INV-2026-11-00042`. Each period and number has exactly one
 * text. Texts of one period sort like their numbers as long as the numbers have at most `digits` digits.
 */
export class PeriodFormat {
  private readonly begin: string;
  private readonly reset: TagReset;
  private readonly digits: number;

  constructor({ prefix, reset, digits = 1 }: PeriodFormatOptions) {
    if (prefix !== undefined && !/^[A-Za-z][A-Za-z0-9]{0,31}$/.test(prefix)) {
      throw new RangeError('The prefix must be 1 to 32 letters and digits and start with a letter.');
    }
    if (!(Number.isInteger(digits) && digits >= 1 && digits <= String(MAX_ID).length)) {
      throw new RangeError(`The digits must be a whole number from 1 to ${String(MAX_ID).length}, not ${digits}.`);
    }
    this.begin = prefix === undefined ? '' : `${prefix}-`;
    this.reset = reset;
    this.digits = digits;
  }

  /** @throws LeafError `LEAF_ID_INVALID` when the number or the period does not fit */
  format({ period, number }: PeriodNumber): string {
    assertId(number);
    this.assertPeriod(period);
    return `${this.begin}${period}-${String(number).padStart(this.digits, '0')}`;
  }

  /** @throws LeafError `LEAF_ID_INVALID` */
  parse(text: string): PeriodNumber {
    if (!text.startsWith(this.begin)) throw invalidId(`expected prefix ${this.begin}`);
    const end = this.begin.length + PERIOD_SHAPES[this.reset].length;
    const period = text.slice(this.begin.length, end);
    this.assertPeriod(period);
    if (text.charAt(end) !== '-') throw invalidId('expected a dash after the period');
    return { period, number: this.parseNumber(text.slice(end + 1)) };
  }

  private parseNumber(text: string): bigint {
    const padded = text.length === this.digits || (text.length > this.digits && !text.startsWith('0'));
    if (!/^\d{1,19}$/.test(text) || !padded)
      throw invalidId(`expected a number of at least ${this.digits} digits, without extra leading zeros`);
    const number = BigInt(text);
    assertId(number);
    return number;
  }

  private assertPeriod(period: string): void {
    try {
      periodOf(this.reset, period);
    } catch {
      throw invalidId(`${JSON.stringify(period.slice(0, 10))} is not a ${this.reset} period`);
    }
  }
}
