import type { LeafError } from '../errors/leaf-error';
import type { PeriodNumber } from '../service/id-service';
import { idsOf } from '../segment/tags/id-range';
import { calendarOf, periodName, periodOf, periodParts, type PeriodRanges } from '../segment/tags/periods';
import { isReset, RESET_RULE, type TagReset } from '../segment/tags/tag-settings';
import { assertOptions, object, rule, text, whole } from '../util/options';
import { assertId, invalidId } from './id-format';
import { invalidPattern, MAX_DIGITS, type Piece, piecesOf, type Values } from './period-pattern';

export interface PeriodFormatOptions {
  /** The `reset` of the tag. Determines the placeholders for the period; undefined: a gapless tag without periods. */
  readonly reset: TagReset | undefined;
  /**
   * 1 to 128 characters with placeholders: `INV-{YYYY}-{MM}-{seq:5}`. Contains the placeholders that identify a period,
   * and one `{seq}`. If omitted, the text is the prefix, the period and the number, separated by dashes.
   */
  readonly pattern?: string;
  /** 1 to 32 letters and digits, starting with a letter: the value of `{prefix}` in the pattern. */
  readonly prefix?: string;
  /** Minimum number of digits, 1 to 19; shorter numbers are padded with zeros. 1 by default. `{seq:5}` in a pattern. */
  readonly digits?: number;
}

const RULES = object({
  reset: rule(RESET_RULE, isReset),
  pattern: text,
  prefix: rule(
    '1 to 32 letters and digits, starting with a letter',
    (value) => typeof value === 'string' && /^[A-Za-z][A-Za-z0-9]{0,31}$/.test(value),
  ),
  digits: whole(1, MAX_DIGITS),
});

/**
 * Writes numbers of a tag that restarts with each period: `INV-2026-11-00042`. Each period and number has exactly one
 * text. If the number follows the period, texts of one period sort like their numbers as long as the numbers have at
 * most the minimum number of digits.
 */
export class PeriodFormat {
  private readonly reset: TagReset | undefined;
  private readonly pattern: string;
  private readonly pieces: readonly Piece[];
  private readonly expression: RegExp;

  /** @throws LeafError `LEAF_CONFIG_INVALID` */
  constructor(options: PeriodFormatOptions) {
    assertOptions('PeriodFormat', RULES, options);
    this.reset = options.reset;
    this.pattern = patternOf(options);
    this.pieces = piecesOf(this.pattern, this.reset);
    this.expression = new RegExp(`^${this.pieces.map(({ source }) => `(${source})`).join('')}$`);
  }

  /** @throws LeafError `LEAF_ID_INVALID` when the number or the period does not fit */
  format({ period, number }: PeriodNumber): string {
    return this.write(this.partsOf(period), number);
  }

  /**
   * The texts of all numbers, in their order.
   *
   * @throws LeafError `LEAF_ID_INVALID`
   */
  formatRanges({ period, ranges }: PeriodRanges): string[] {
    const parts = this.partsOf(period);
    return idsOf(ranges).map((number) => this.write(parts, number));
  }

  /** @throws LeafError `LEAF_ID_INVALID` */
  parse(text: string): PeriodNumber {
    const found = this.expression.exec(text);
    if (found === null) throw this.unexpected();
    const values: Record<string, string> = {};
    this.pieces.forEach((piece, index) => {
      if (piece.part !== undefined) values[piece.part] = piece.read(found[index + 1] ?? '');
    });
    const period = this.reset === undefined ? '' : periodName(calendarOf(this.reset), values);
    const result = { period, number: BigInt(values.seq ?? '') };
    // Compares zeros, check digits and repeated parts as well.
    if (this.format(result) !== text) throw this.unexpected();
    return result;
  }

  private write(parts: Values, number: bigint): string {
    assertId(number);
    const values = { ...parts, seq: String(number) };
    return this.pieces.reduce((before, piece) => before + writePiece(piece, values, before), '');
  }

  private partsOf(period: string): Values {
    const { reset } = this;
    if (reset === undefined) return {};
    try {
      periodOf(reset, period);
      return periodParts(reset, period);
    } catch {
      throw invalidId(`${JSON.stringify(period.slice(0, 10))} is not a ${reset} period`);
    }
  }

  private unexpected(): LeafError {
    return invalidId(`expected exactly the form ${this.pattern}`);
  }
}

function writePiece(piece: Piece, values: Values, before: string): string {
  const written = piece.write(values, before);
  if (piece.part === undefined || piece.read(written) === values[piece.part]) return written;
  throw invalidId('{YY} requires a year from 2000 to 2099');
}

function patternOf({ reset, pattern, prefix, digits }: PeriodFormatOptions): string {
  if (pattern === undefined) {
    const begin = prefix === undefined ? '' : `${prefix}-`;
    return `${begin}${reset === undefined ? '' : `${calendarOf(reset).template}-`}{seq:${digits ?? 1}}`;
  }
  if (digits !== undefined) throw invalidPattern(`use {seq:${digits}} in place of digits: ${digits}`);
  if (pattern.includes('{prefix}') !== (prefix !== undefined)) {
    throw invalidPattern('a prefix and {prefix} in the pattern require each other');
  }
  return pattern.replaceAll('{prefix}', prefix ?? '');
}
