import { LeafError } from '../../errors/leaf-error';
import {
  accepted,
  anyText,
  bigint,
  both,
  flag,
  object,
  required,
  type Rule,
  type Rules,
  text,
  whole,
} from '../../util/options';
import { MAX_ID } from './id-range';
import { MAX_PERIOD, periodRow } from './periods';
import {
  type Interleave,
  settingFault,
  type TagKind,
  type TagLimits,
  type TagOrder,
  type TagReset,
  assertTag,
  MAX_TAG,
} from './tag-settings';

/** The row of a tag in the database. */
export interface TagRow extends TagKind {
  readonly tag: string;
  /** The first ID that is not taken; for an interleaved tag, the first ID of its next block. */
  readonly maxId: bigint;
  readonly step: number;
  readonly maxStep: number | undefined;
  readonly max: bigint | undefined;
  readonly description: string | undefined;
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

export interface NewTag extends TagLimits, Partial<TagKind> {
  readonly tag: string;
  readonly step: number;
  /** The first ID to issue. Defaults to 1, or to the first unused ID of a deleted tag of this name. */
  readonly maxId?: bigint | undefined;
  readonly description?: string | undefined;
}

/** Undefined keeps a setting; null removes it. */
export interface TagChange extends TagLimits {
  /** Undefined keeps it; the empty string removes it. */
  readonly description?: string | undefined;
  /** May only increase: lower IDs may have been issued. */
  readonly maxId?: bigint | undefined;
}

/** As `NewTag`; `step` is 2000 if omitted. */
export type DeclaredTag = Omit<NewTag, 'step'> & Partial<Pick<NewTag, 'step'>>;

/** Step of a tag that is created without one. */
export const DEFAULT_STEP = 2000;

/** @param declared a name alone: a tag that starts at 1 */
export function newTagOf(declared: string | DeclaredTag): NewTag {
  return { step: DEFAULT_STEP, ...(typeof declared === 'string' ? { tag: declared } : declared) };
}

export const MAX_DESCRIPTION = 256;

/** Counts code points, as databases do. */
export function fitsDescription(text: string): boolean {
  return Array.from(text).length <= MAX_DESCRIPTION;
}

/** A part of the list of tags: `limit` of them after the tag `after`. What is left out does not limit it. */
export interface TagPage {
  readonly after?: string | undefined;
  readonly limit?: number;
}

/**
 * Administration of tags. Every change is one transaction. Failures of the store reject with `LEAF_STORE_UNAVAILABLE`.
 */
export abstract class TagStore {
  /**
   * The tags by name, in the order of the database; of several databases in the order of the bytes.
   *
   * @throws LeafError `LEAF_OVERLOADED` when too many reads wait for the database
   */
  abstract list(page?: TagPage): Promise<TagRow[]>;

  /** @throws LeafError as {@link list} */
  abstract find(tag: string): Promise<TagRow | undefined>;

  /**
   * @throws LeafError `LEAF_TAG_INVALID`, `LEAF_BODY_INVALID`, `LEAF_TAG_EXISTS`, or `LEAF_MAX_ID_BACKWARDS` when a
   *   deleted tag of this name has issued IDs at or above `maxId`
   */
  abstract create(tag: NewTag): Promise<TagRow>;

  /**
   * @returns the row before and after the change
   * @throws LeafError `LEAF_TAG_NOT_FOUND`, `LEAF_BODY_INVALID`, `LEAF_MAX_ID_BACKWARDS`
   */
  abstract change(tag: string, change: TagChange): Promise<{ readonly before: TagRow; readonly after: TagRow }>;

  /**
   * Deletes the tag and records its first unused ID, so that a new tag of this name continues above it.
   *
   * @returns the row that was deleted
   * @throws LeafError `LEAF_TAG_NOT_FOUND`
   */
  abstract remove(tag: string): Promise<TagRow>;

  /** The name of the database that owns the tag; undefined (the default) if there is only one. */
  shardOf(_tag: string): string | undefined {
    return undefined;
  }
}

/** @throws LeafError `LEAF_TAG_INVALID`, `LEAF_BODY_INVALID` */
export function assertNewTag({ tag, ...fields }: NewTag): void {
  assertTag(tag);
  assertTagChange(fields);
  const most = MAX_TAG - periodRow('', '').length - MAX_PERIOD;
  if (fields.reset !== undefined && tag.length > most) {
    throw invalid(`a tag with reset must have at most ${most} characters`);
  }
}

/** @throws LeafError `LEAF_BODY_INVALID` */
export function assertTagChange({ maxId, description, ...settings }: TagChange & Partial<TagKind>): void {
  const fault = settingFault(settings);
  if (fault !== undefined) throw invalid(fault);
  if (maxId !== undefined && (maxId < 1n || maxId > MAX_ID)) {
    throw invalid(`maxId must be a whole number from 1 to ${MAX_ID}`);
  }
  if (description !== undefined && !fitsDescription(description)) {
    throw invalid(`description must have at most ${MAX_DESCRIPTION} characters`);
  }
}

function invalid(problem: string): LeafError {
  return new LeafError('LEAF_BODY_INVALID', `The tag cannot be stored: ${problem}.`);
}

const INTERLEAVE: Rules<Interleave> = {
  of: required(whole(2)),
  remainder: required(whole(0)),
  block: required(whole(1)),
};

/** The kinds of the fields; {@link assertNewTag} has their ranges. */
const NEW_TAG: Rules<NewTag> = {
  tag: required(text),
  step: whole(1),
  maxId: bigint,
  maxStep: orNull(whole(1)),
  max: orNull(bigint),
  order: text,
  reset: text,
  zone: text,
  interleave: object(INTERLEAVE),
  pattern: text,
  reissue: flag,
  description: anyText,
};

/** Rule for an option that is a new tag. */
export const newTagRule: Rule = both(object(NEW_TAG), accepted(assertNewTag));

function orNull(each: Rule): Rule {
  return (value, path) => (value === null ? [] : each(value, path));
}

/** Maximum number of tags in one response or one page. */
export const MAX_TAGS_PER_PAGE = 1000;

/** A tag in JSON, without the settings that it does not have. */
export interface TagJson {
  readonly tag: string;
  /** The first ID that no server has allocated, in decimal. */
  readonly maxId: string;
  readonly step: number;
  readonly maxStep?: number;
  /** The last ID that the tag can issue, in decimal. */
  readonly max?: string;
  readonly order?: TagOrder;
  readonly reset?: TagReset;
  readonly zone?: string;
  readonly interleave?: Interleave;
  readonly pattern?: string;
  readonly reissue?: boolean;
  /** Name of the database that owns the tag, if there are several. */
  readonly shard?: string;
  readonly description: string;
  /** Time of the last change of the row, in ISO 8601. */
  readonly updatedAt: string;
}

export function jsonOfTag(row: TagRow, shard?: string): TagJson {
  const { tag, maxId, step, maxStep, max, order, reset, zone, interleave, pattern, reissue, description = '' } = row;
  return {
    tag,
    maxId: String(maxId),
    step,
    ...(maxStep === undefined ? {} : { maxStep }),
    ...(max === undefined ? {} : { max: String(max) }),
    ...(order === 'relaxed' ? {} : { order }),
    ...(reset === undefined ? {} : { reset }),
    ...(zone === undefined ? {} : { zone }),
    ...(interleave === undefined ? {} : { interleave }),
    ...(pattern === undefined ? {} : { pattern }),
    ...(reissue === undefined ? {} : { reissue }),
    ...(shard === undefined ? {} : { shard }),
    description,
    updatedAt: new Date(row.updatedAt).toISOString(),
  };
}
