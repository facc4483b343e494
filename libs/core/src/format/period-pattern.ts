import { LeafError } from '../errors/leaf-error';
import { MAX_ID } from '../segment/tags/id-range';
import { calendarOf } from '../segment/tags/periods';
import type { TagReset } from '../segment/tags/tag-settings';
import { visible } from '../util/visible-text';

/** Maximum length of a pattern, in characters. */
export const MAX_PATTERN = 128;
/** Digits of the largest number. */
export const MAX_DIGITS = String(MAX_ID).length;

/** The parts of a period by their placeholders, and `seq`, the number. */
export type Values = Readonly<Record<string, string>>;

/** What a placeholder, or the text between two of them, writes and reads. */
export interface Piece {
  /** Source of a regular expression. Only that of `{seq}` matches texts of different lengths. */
  readonly source: string;
  /** The value that it shows; undefined for text and check digits. */
  readonly part?: string;
  /** @param before what the pieces before this one have written */
  write(values: Values, before: string): string;
  /** The value of {@link part}. */
  read(text: string): string;
}

interface Spelling {
  readonly name: string;
  readonly part: string;
  readonly digits: number;
  readonly write: (part: string) => string;
  readonly read: (text: string) => string;
}

const same = (text: string): string => text;

/** Placeholders that show a part in another way. */
const SPELLINGS: readonly Spelling[] = [
  { name: 'YY', part: 'YYYY', digits: 2, write: (year) => year.slice(2), read: (text) => `20${text}` },
  { name: 'QQ', part: 'Q', digits: 2, write: (quarter) => `0${quarter}`, read: (text) => text.slice(1) },
];
const FISCAL_YEAR: Spelling = { name: 'FY', part: 'YYYY', digits: 4, write: same, read: same };

/** Computes the check digits of a text, from what precedes them. */
interface CheckDigits {
  readonly length: number;
  compute(text: string): string;
}

/** Other characters do not count. */
const CHECK_DIGITS: Readonly<Record<string, CheckDigits>> = {
  /** ISO/IEC 7812-1, over the digits: detects one wrong digit and most swapped neighbours. */
  luhn: {
    length: 1,
    compute: (text) => {
      const digits = text.replaceAll(/\D/g, '').split('').reverse().map(Number);
      const sum = digits.reduce((total, digit, index) => total + (index % 2 === 0 ? crossSum(2 * digit) : digit), 0);
      return String((10 - (sum % 10)) % 10);
    },
  },
  /** ISO/IEC 7064 MOD 97-10, over digits and Latin letters (A = 10, Z = 35), as in an IBAN. */
  mod97: {
    length: 2,
    compute: (text) => {
      const digits = Array.from(text.replaceAll(/[^\dA-Za-z]/g, ''), (character) => parseInt(character, 36)).join('');
      return String(98n - (BigInt(`${digits}00`) % 97n)).padStart(2, '0');
    },
  },
};

function crossSum(number: number): number {
  return number < 10 ? number : number - 9;
}

/**
 * The pieces of a pattern such as `INV-{YYYY}-{seq:5}`, by which each period and number has exactly one text.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function piecesOf(pattern: string, reset: TagReset | undefined): Piece[] {
  if (pattern.length > MAX_PATTERN) throw invalidPattern(`it must have at most ${MAX_PATTERN} characters`);
  if (visible(pattern) !== pattern) throw invalidPattern('it contains invisible characters');
  const fields = reset === undefined ? new Map<string, Piece>() : fieldsOf(reset);
  const kind = reset === undefined ? 'tag without periods' : `${reset} tag`;
  const pieces = Array.from(pattern.matchAll(/\{([^{}]*)\}|[^{}]+|[{}]/g), (match): Piece => {
    const [text, name = ''] = match;
    if (!/^[{}]/.test(text)) return literal(text);
    const check = checkPiece(name);
    if (check !== undefined && match.index + text.length < pattern.length) {
      throw invalidPattern(`${text} must be at its end, because it covers everything before it`);
    }
    const piece = check ?? fields.get(name) ?? numberPiece(name);
    if (piece !== undefined) return piece;
    const names = [...fields.keys(), 'seq', 'seq:5', ...Object.keys(CHECK_DIGITS).map((each) => `check:${each}`)];
    const known = names.map((each) => `{${each}}`).join(', ');
    throw invalidPattern(`unknown placeholder ${text}; the placeholders for a ${kind} are ${known}`);
  });
  const parts = pieces.flatMap(({ part }) => part ?? []);
  const missing = [...fields].find(([name, { part }]) => part === name && !parts.includes(name));
  if (missing !== undefined) {
    throw invalidPattern(
      `it must contain {${missing[0]}}: otherwise several ${reset} periods would have the same texts`,
    );
  }
  if (parts.filter((part) => part === 'seq').length !== 1) throw invalidPattern('it must contain exactly one {seq}');
  return pieces;
}

export function invalidPattern(problem: string): LeafError {
  return new LeafError('LEAF_CONFIG_INVALID', `Invalid pattern: ${problem}.`);
}

/** The placeholders for the parts of a period. */
function fieldsOf(reset: TagReset): Map<string, Piece> {
  const parts = Array.from(calendarOf(reset).template.matchAll(/\{(\w+)\}/g), ([, part = '']) => part);
  const own = parts.map((part): Spelling => ({ name: part, part, digits: part.length, write: same, read: same }));
  const all = [...own, ...(reset.startsWith('fiscal:') ? [FISCAL_YEAR] : []), ...SPELLINGS];
  const fields = all.filter(({ part }) => parts.includes(part));
  return new Map(
    fields.map(({ name, part, digits, write, read }) => [
      name,
      { source: `\\d{${digits}}`, part, write: (values) => write(values[part] ?? ''), read },
    ]),
  );
}

/** `seq`, or `seq:5` with at least five digits. */
function numberPiece(name: string): Piece | undefined {
  const match = /^seq(?::(\d+))?$/.exec(name);
  if (match === null) return undefined;
  const [, least = '1'] = match;
  if (!/^([1-9]|1\d)$/.test(least)) {
    throw invalidPattern(`{${name}} must have a minimum number of digits from 1 to ${MAX_DIGITS}, as in {seq:5}`);
  }
  return {
    source: `\\d{${least},${MAX_DIGITS}}`,
    part: 'seq',
    write: ({ seq = '' }) => seq.padStart(Number(least), '0'),
    read: (digits) => String(BigInt(digits)),
  };
}

function checkPiece(name: string): Piece | undefined {
  const check = name.startsWith('check:') ? CHECK_DIGITS[name.slice('check:'.length)] : undefined;
  return check && { source: `\\d{${check.length}}`, write: (_, before) => check.compute(before), read: same };
}

function literal(text: string): Piece {
  return { source: text.replaceAll(/[\\^$.*+?()[\]|/]/g, '\\$&'), write: () => text, read: same };
}
