import type { PeriodNumber } from '../id-service';
import { MAX_ID } from '../segment/id-range';
import { PERIOD_SHAPES, periodOf } from '../segment/periods';
import type { TagReset } from '../segment/tag-settings';
import { assertId, invalidId } from './id-format';

export interface PeriodFormatOptions {
  /** 1 to 32 letters and digits, a letter first; a dash follows. Left out: the period comes first. */
  readonly prefix?: string;
  /** That of the tag: it decides where the period ends and the number begins. */
  readonly reset: TagReset;
  /** Digits of a number at least, 1 to 19; a larger number has as many as it needs. 1 when left out. */
  readonly digits?: number;
}

/**
 * Numbers of a tag that begins anew with each period: `INV-2026-11-00042`. Each period and number has exactly one text.
 * Texts of one period sort as their numbers do, as long as these have no more than `digits` digits.
 */
export class PeriodFormat {
  private readonly begin: string;
  private readonly reset: TagReset;
  private readonly digits: number;

  constructor({ prefix, reset, digits = 1 }: PeriodFormatOptions) {
    if (prefix !== undefined && !/^[A-Za-z][A-Za-z0-9]{0,31}$/.test(prefix)) {
      throw new RangeError('A prefix is 1 to 32 letters and digits, a letter first.');
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
    if (!text.startsWith(this.begin)) throw invalidId(`it begins with ${this.begin}`);
    const end = this.begin.length + PERIOD_SHAPES[this.reset].length;
    const period = text.slice(this.begin.length, end);
    this.assertPeriod(period);
    if (text.charAt(end) !== '-') throw invalidId('a dash follows the period');
    return { period, number: this.parseNumber(text.slice(end + 1)) };
  }

  private parseNumber(text: string): bigint {
    const padded = text.length === this.digits || (text.length > this.digits && !text.startsWith('0'));
    if (!/^\d{1,19}$/.test(text) || !padded)
      throw invalidId(`its number has ${this.digits} digits or more, none too many`);
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
