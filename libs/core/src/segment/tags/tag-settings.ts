import { LeafError } from '../../errors/leaf-error';
import { MAX_ID } from './id-range';
import { accepted, both, text } from '../../util/options';

/** Maximum length of a tag and of a row name, in characters. */
export const MAX_TAG = 128;
/** `.` and `..` are not tags: clients and proxies resolve them as path segments. */
export const TAG_PATTERN =
  /^(?:[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,127}|\.[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,126}|\.\.[A-Za-z0-9._:-]{1,126})$/;

/** {@link TAG_PATTERN} in words, without a full stop. */
export const TAG_RULE = `1 to ${MAX_TAG} letters, digits, "-", "_", "." or ":", but not "." or ".."`;

export function isTag(text: string): boolean {
  return TAG_PATTERN.test(text);
}

/** @throws LeafError `LEAF_TAG_INVALID` */
export function assertTag(text: string): void {
  if (isTag(text)) return;
  const shown = JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  throw new LeafError('LEAF_TAG_INVALID', `${shown} is not a valid tag; use ${TAG_RULE}.`);
}

/** Rule for an option that is the name of a tag. */
export const tagRule = both(text, accepted(assertTag));

export const ORDERS = ['relaxed', 'strict', 'gapless'] as const;
/** `strict`: IDs ascend over all servers; `relaxed`: within each server; `gapless`: one number for each document. */
export type TagOrder = (typeof ORDERS)[number];

export const RESETS = ['daily', 'weekly', 'monthly', 'quarterly', 'yearly'] as const;
/** How often the numbers of a tag restart. `fiscal:04-01`: on April 1 of each year. */
export type TagReset = (typeof RESETS)[number] | `fiscal:${string}`;

/** February 29 is not in every year. */
const FISCAL =
  'fiscal:((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))';
export const RESET_PATTERN = new RegExp(`^(${RESETS.join('|')}|${FISCAL})$`);
export const RESET_RULE = `one of ${RESETS.join(', ')}, or fiscal: with the first day of the year as in fiscal:04-01`;

export function isReset(value: unknown): value is TagReset {
  return typeof value === 'string' && RESET_PATTERN.test(value);
}

/** The share of one database in a tag whose IDs several databases allocate. */
export interface Interleave {
  /** Number of databases that share the tag, 2 or more. */
  readonly of: number;
  /** Index of this database, 0 to `of` - 1: it has the blocks whose number modulo `of` is this. */
  readonly remainder: number;
  /** IDs per block, 1 or more. Equal in all databases; must never change. */
  readonly block: number;
}

/** The settings of a tag that never change, because they determine its IDs. */
export interface TagKind {
  readonly order: TagOrder;
  readonly reset: TagReset | undefined;
  /** IANA time zone for `reset`. */
  readonly zone: string | undefined;
  readonly interleave: Interleave | undefined;
  /** Only of a gapless tag: the form of its texts, as of `PeriodFormat`. */
  readonly pattern?: string | undefined;
  /** Only of a gapless tag: whether void numbers are given out again. */
  readonly reissue?: boolean | undefined;
}

export const PLAIN_TAG: TagKind = { order: 'relaxed', reset: undefined, zone: undefined, interleave: undefined };

/** Maximum of the step columns. */
export const MAX_STEP = 2_147_483_647;
/** Maximum number of databases of one tag. */
export const MAX_INTERLEAVE = 1000;

/** The settings of a tag that may change. */
export interface TagLimits {
  readonly step?: number | undefined;
  /** Maximum of the dynamic step, within the limit of the server. Equal to `step`: the step is fixed. */
  readonly maxStep?: number | null | undefined;
  /** The last ID that may be issued, 1 to 2^63 - 2. */
  readonly max?: bigint | null | undefined;
}

/** Describes the first invalid setting of a tag; undefined if all are valid. */
export function settingFault({ step, maxStep, max, ...kind }: TagLimits & Partial<TagKind>): string | undefined {
  if (step !== undefined && !isWithin(step, MAX_STEP)) return `step must be a whole number from 1 to ${MAX_STEP}`;
  if (!isNil(maxStep) && !isWithin(maxStep, MAX_STEP)) return `maxStep must be a whole number from 1 to ${MAX_STEP}`;
  if (!isNil(maxStep) && maxStep < (step ?? 0)) return 'maxStep must not be less than step';
  if (!isNil(max) && (max < 1n || max >= MAX_ID)) return `max must be a whole number from 1 to ${MAX_ID - 1n}`;
  return kindFault({ ...kind, max }) ?? ambiguityOf(kind.zone);
}

function kindFault(kind: Partial<TagKind> & TagLimits): string | undefined {
  const { order, reset, zone, interleave, max, pattern, reissue } = kind;
  if (order !== undefined && !ORDERS.includes(order)) return `order must be one of ${ORDERS.join(', ')}`;
  if (reset !== undefined && !isReset(reset)) return `reset must be ${RESET_RULE}`;
  if (zone !== undefined && reset === undefined) return 'zone requires reset';
  if (zone !== undefined && !isZone(zone)) return `zone must be an IANA time zone such as Europe/Berlin, not ${zone}`;
  if (order !== 'gapless' && (pattern !== undefined || reissue !== undefined)) {
    return 'pattern and reissue require the order gapless';
  }
  if (interleave === undefined) return undefined;
  if (isOrdered(order) || reset !== undefined || !isNil(max)) {
    return 'interleave cannot be combined with order strict or gapless, reset or max';
  }
  const { of, remainder, block } = interleave;
  if (!isWithin(of, MAX_INTERLEAVE) || of < 2)
    return `interleave.of must be a whole number from 2 to ${MAX_INTERLEAVE}`;
  if (remainder !== 0 && !isWithin(remainder, of - 1)) return 'interleave.remainder must be a whole number below of';
  return isWithin(block, MAX_STEP) ? undefined : `interleave.block must be a whole number from 1 to ${MAX_STEP}`;
}

/**
 * Converts the columns of a row to a {@link TagKind}.
 *
 * @throws LeafError `LEAF_TAG_ROW_INVALID`
 */
export function tagKind(tag: string, kind: { readonly [Name in keyof TagKind]: unknown }): TagKind {
  const read = { ...kind, order: kind.order ?? 'relaxed' } as TagKind;
  const fault = kindFault(read);
  if (fault === undefined) return read;
  throw new LeafError(
    'LEAF_TAG_ROW_INVALID',
    `The row of tag "${tag}" in leaf_alloc is invalid: ${fault}. If a later version created it, upgrade this server; otherwise correct its columns: docs/tags.md.`,
  );
}

/** Whether the order spans all servers. */
export function isOrdered(order: TagOrder | undefined): boolean {
  return order === 'strict' || order === 'gapless';
}

/** Zones that a new tag may not have; rows that exist keep theirs. */
function ambiguityOf(zone: string | undefined): string | undefined {
  if (zone === undefined || /^(Etc\/)?(UTC|GMT)$/.test(zone) || (zone.includes('/') && !/^Etc\//i.test(zone)))
    return undefined;
  const meaning = /^Etc\/GMT[+-]/i.test(zone) ? 'its sign is the opposite of the usual one' : 'it has several meanings';
  return `zone must be UTC or name an area and a city, such as Asia/Shanghai or Europe/London, not ${zone}: ${meaning}`;
}

function isNil(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function isWithin(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
