import type { Interleave, TagOrder, TagReset } from './tag-settings';
import type { TagRow } from './tag-store';

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
  /** Name of the database that owns the tag, if there are several. */
  readonly shard?: string;
  readonly description: string;
  /** Time of the last change of the row, in ISO 8601. */
  readonly updatedAt: string;
}

export function jsonOfTag(row: TagRow, shard?: string): TagJson {
  const { tag, maxId, step, maxStep, max, order, reset, zone, interleave, description = '', updatedAt } = row;
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
    ...(shard === undefined ? {} : { shard }),
    description,
    updatedAt: new Date(updatedAt).toISOString(),
  };
}
