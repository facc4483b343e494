import { LeafError, messageOf } from '../errors/leaf-error';
import { piecesOf } from '../format/period-pattern';
import type { TagReset } from '../segment/tags/tag-settings';
import type { NewTag } from '../segment/tags/tag-store';

/** Maximum length of a key, in characters. */
export const MAX_KEY = 128;
/** Maximum length of a reason, in characters. */
export const MAX_REASON = 256;
/** Maximum number of keys in one call. */
export const MAX_KEYS = 1000;

/** Begins the keys of skipped numbers, which belong to no document. */
const RESERVED = '~';
/** Characters that nobody sees, in the classes of a regular expression of any language: controls, and halves of others. */
const CONTROLS = String.raw`\u0000-\u001f\u007f-\u009f\ud800-\udfff`;
const INVISIBLE = String.raw`${CONTROLS}\u00a0\u00ad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff0-\uffff`;
const VISIBLE = `[^ ${INVISIBLE}]`;

/** Clients and proxies resolve `.` and `..` as path segments; `audit` is a route. */
export const KEY_PATTERN = new RegExp(
  String.raw`^(?!${RESERVED}|(\.|\.\.|audit)$)${VISIBLE}([^${INVISIBLE}]{0,126}${VISIBLE})?$`,
  'u',
);
export const REASON_PATTERN = new RegExp(`^ *[^ ${CONTROLS}][^${CONTROLS}]*$`, 'u');

export const KEY_RULE = `1 to ${MAX_KEY} printable characters without spaces at the ends, not starting with "~", and not ".", ".." or "audit"`;

/** @throws LeafError `LEAF_REQUEST_INVALID` */
export function assertKey(key: unknown): asserts key is string {
  if (typeof key === 'string' && KEY_PATTERN.test(key)) return;
  const shown = JSON.stringify(typeof key === 'string' && key.length > 40 ? `${key.slice(0, 40)}…` : key);
  throw new LeafError('LEAF_REQUEST_INVALID', `${shown} is not a valid key of a document; use ${KEY_RULE}.`);
}

/** @throws LeafError `LEAF_BODY_INVALID` */
export function assertReason(reason: unknown): asserts reason is string {
  if (typeof reason === 'string' && REASON_PATTERN.test(reason) && Array.from(reason).length <= MAX_REASON) return;
  throw new LeafError(
    'LEAF_BODY_INVALID',
    `The reason must be text of 1 to ${MAX_REASON} characters, none of them a control character.`,
  );
}

/** @throws LeafError `LEAF_REQUEST_INVALID` for a name that the journal cannot keep */
export function assertBy(by: string): void {
  if (/^[^\p{Cc}\p{Cs}]{1,64}$/u.test(by)) return;
  throw new LeafError(
    'LEAF_REQUEST_INVALID',
    'The name for the journal must have 1 to 64 characters, without control characters.',
  );
}

/** The key under which a number is void that no document has. */
export function skippedKey(period: string, number: bigint): string {
  return [RESERVED + 'skipped', period, number].join(RESERVED);
}

/**
 * `issued`: open, its document may still fail. `confirmed`: its document exists. `void`: no document has it. `reissued`:
 * void, and given to another document since; only for tags with `reissue`.
 */
export const NUMBER_STATES = ['issued', 'confirmed', 'void', 'reissued'] as const;
export type NumberState = (typeof NUMBER_STATES)[number];

/** The number of one document. */
export interface DocumentNumber {
  readonly key: string;
  /** Empty for a tag without periods. */
  readonly period: string;
  readonly number: bigint;
  /** How many documents had the number before: 0, unless the tag gives void numbers out again. */
  readonly turn: number;
  readonly state: NumberState;
  /** Unix milliseconds; never before that of the number below. */
  readonly issuedAt: number;
  /** Name of the token, or of the program. */
  readonly issuedBy: string;
  /** When it was confirmed or became void, in Unix milliseconds. */
  readonly settledAt: number | undefined;
  readonly settledBy: string | undefined;
  /** Why it is void. */
  readonly reason: string | undefined;
}

/** The settings of a gapless tag. */
export interface GaplessSettings {
  readonly reset: TagReset | undefined;
  readonly zone: string | undefined;
  /** The first number, or that of each period. */
  readonly first: bigint;
  readonly max: bigint | undefined;
  /** The form of the texts; undefined: none. */
  readonly pattern: string | undefined;
  /** Whether void numbers are given out again, the lowest first. */
  readonly reissue: boolean;
}

/** Whether a number of one tag is in the same period, and has the same text, in the other: otherwise it was replaced. */
export function isSameNumbering(one: GaplessSettings, other: GaplessSettings): boolean {
  return one.reset === other.reset && one.zone === other.zone && one.pattern === other.pattern;
}

/**
 * Checks the form of the texts of a new tag.
 *
 * @throws LeafError `LEAF_BODY_INVALID`
 */
export function assertPattern({ pattern, reset }: Pick<NewTag, 'pattern' | 'reset'>): void {
  if (pattern === undefined) return;
  try {
    piecesOf(pattern, reset);
  } catch (error) {
    throw new LeafError('LEAF_BODY_INVALID', `The tag cannot be stored. ${messageOf(error)}`);
  }
}

/** A document asks for its number, or says what became of it. */
export type NumberRequest =
  | {
      readonly act: 'issue';
      readonly key: string;
      readonly period: string;
      /** Whether the caller named no date: a document that has a number keeps it, whatever its period. */
      readonly isCurrent: boolean;
      readonly by: string;
    }
  | {
      readonly act: 'confirm' | 'void';
      readonly key: string;
      readonly by: string;
      /** Only of `void`. */
      readonly reason: string | undefined;
    };

export interface NumberAnswer {
  readonly number: DocumentNumber;
  /** Whether this call has changed anything. */
  readonly isNew: boolean;
}
