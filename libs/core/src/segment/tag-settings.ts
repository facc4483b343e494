import { LeafError } from '../errors/leaf-error';
import { MAX_ID } from './id-range';

export const ORDERS = ['relaxed', 'strict'] as const;
/** `strict`: the IDs of a tag ascend over all servers; `relaxed`: within one server. */
export type TagOrder = (typeof ORDERS)[number];

export const RESETS = ['daily', 'monthly', 'yearly'] as const;
/** A tag that begins anew with each day, month or year. */
export type TagReset = (typeof RESETS)[number];

/** The share of one database in a tag that several databases give IDs of. */
export interface Interleave {
  /** Databases that share the tag: 2 or more. */
  readonly of: number;
  /** Which of them: the blocks whose number leaves this remainder, 0 to `of` - 1. */
  readonly remainder: number;
  /** IDs of a block, from 1 up; the same in all of them, for good. */
  readonly block: number;
}

/** What never changes about a tag, since IDs were given by it. */
export interface TagKind {
  readonly order: TagOrder;
  readonly reset: TagReset | undefined;
  /** IANA zone of the calendar that `reset` goes by. */
  readonly zone: string | undefined;
  readonly interleave: Interleave | undefined;
}

export const PLAIN_TAG: TagKind = { order: 'relaxed', reset: undefined, zone: undefined, interleave: undefined };

/** Bound of the column of a step. */
export const MAX_STEP = 2_147_483_647;
/** Databases that may share one tag. */
export const MAX_INTERLEAVE = 1000;
/** Length of an IANA zone at most, in characters. */
export const MAX_ZONE = 64;

/** What of a tag may change, as {@link settingFault} looks at it. */
export interface TagLimits {
  readonly step?: number | undefined;
  /** The dynamic step grows to this at most, if the server allows as much; equal to `step`, it makes the step fixed. */
  readonly maxStep?: number | null | undefined;
  /** The last ID that may be given, 1 to 2^63 - 2. */
  readonly max?: bigint | null | undefined;
}

/** The first thing that is wrong with settings of a tag; undefined when they can be stored. */
export function settingFault({ step, maxStep, max, ...kind }: TagLimits & Partial<TagKind>): string | undefined {
  if (step !== undefined && !isWithin(step, MAX_STEP)) return `step must be a whole number from 1 to ${MAX_STEP}`;
  if (!isNil(maxStep) && !isWithin(maxStep, MAX_STEP)) return `maxStep must be a whole number from 1 to ${MAX_STEP}`;
  if (!isNil(maxStep) && step !== undefined && maxStep < step) return 'maxStep must not be less than step';
  if (!isNil(max) && (max < 1n || max >= MAX_ID)) return `max must be a whole number from 1 to ${MAX_ID - 1n}`;
  return kindFault({ ...kind, max });
}

function kindFault({ order, reset, zone, interleave, max }: Partial<TagKind> & TagLimits): string | undefined {
  if (order !== undefined && !ORDERS.includes(order)) return `order must be one of ${ORDERS.join(', ')}`;
  if (reset !== undefined && !RESETS.includes(reset)) return `reset must be one of ${RESETS.join(', ')}`;
  if (zone !== undefined && reset === undefined) return 'zone needs reset';
  if (zone !== undefined && !isZone(zone)) return `zone must be an IANA time zone, as Europe/Berlin, not ${zone}`;
  if (interleave === undefined) return undefined;
  if (order === 'strict' || reset !== undefined || !isNil(max)) {
    return 'interleave goes with none of order strict, reset and max';
  }
  const { of, remainder, block } = interleave;
  if (!isWithin(of, MAX_INTERLEAVE) || of < 2)
    return `interleave.of must be a whole number from 2 to ${MAX_INTERLEAVE}`;
  if (remainder !== 0 && !isWithin(remainder, of - 1)) return 'interleave.remainder must be a whole number below of';
  return isWithin(block, MAX_STEP) ? undefined : `interleave.block must be a whole number from 1 to ${MAX_STEP}`;
}

/** Reads the columns of a kind as a table holds them. @throws LeafError `LEAF_TAG_ROW_INVALID` */
export function tagKind(tag: string, kind: Record<keyof TagKind, unknown>): TagKind {
  const read = { ...kind, order: kind.order ?? 'relaxed' } as TagKind;
  const fault = kindFault(read);
  if (fault === undefined) return read;
  throw new LeafError(
    'LEAF_TAG_ROW_INVALID',
    `The row of tag "${tag}" in leaf_alloc cannot be used: ${fault}. Set its columns as docs/operations.md says.`,
  );
}

function isNil(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function isWithin(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}

function isZone(zone: string): boolean {
  if (zone.length > MAX_ZONE) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
