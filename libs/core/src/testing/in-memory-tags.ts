import type { Clock } from '../clock/clock';
import { LeafError } from '../errors/leaf-error';
import { type IdRange, MAX_ID } from '../segment/tags/id-range';
import { assertNear, PeriodCalendar, type PeriodRanges, periodRow } from '../segment/tags/periods';
import { assertTag } from '../segment/tags/tag-settings';
import { gaplessTag, periodicTag, tagWithoutPeriods, unknownTag } from '../segment/tags/tag-refusals';
import { assertNewTag, type DeclaredTag, type NewTag, newTagOf } from '../segment/tags/tag-store';

/** As `NewTag`, without interleaving; `step` is 2000 if omitted. */
export type InMemoryTag = Omit<DeclaredTag, 'interleave'>;

/** The tags of one {@link InMemoryIdService}, and the position of each. */
export class InMemoryTags {
  /** Undefined: every valid tag exists. */
  private readonly declared: ReadonlyMap<string, NewTag> | undefined;
  /** The next ID of each tag, or of each period of a tag. */
  private readonly positions = new Map<string, bigint>();

  /** @throws LeafError `LEAF_TAG_INVALID`, `LEAF_BODY_INVALID` */
  constructor(
    tags: readonly (string | InMemoryTag)[] | undefined,
    private readonly clock: Clock,
  ) {
    const all = tags?.map(newTagOf);
    all?.forEach(assertNewTag);
    this.declared = all && new Map(all.map((tag) => [tag.tag, tag]));
  }

  /** @throws LeafError as `IdService.nextRanges` */
  take(name: string, count: number): IdRange[] {
    const tag = this.find(name);
    if (tag.reset !== undefined) throw periodicTag(name);
    return this.takeFrom(name, tag, count);
  }

  /** One ID; undefined when {@link take} would throw, for a strict tag, or when the ID would be above `highest`. */
  tryTake(name: string, highest = MAX_ID): bigint | undefined {
    try {
      const tag = this.find(name);
      if (tag.order === 'strict' || this.position(name, tag) > highest) return undefined;
      return this.take(name, 1)[0]?.from;
    } catch {
      return undefined;
    }
  }

  /** @throws LeafError as `IdService.nextRangesInPeriod` */
  takeInPeriod(name: string, count: number, at: number | undefined): PeriodRanges {
    const tag = this.find(name);
    if (tag.reset === undefined) throw tagWithoutPeriods(name);
    const now = this.clock.now();
    if (at !== undefined) assertNear(at, now, tag.reset);
    const period = new PeriodCalendar(tag.reset, tag.zone ?? 'UTC').nameAt(at ?? now);
    return { period, ranges: this.takeFrom(periodRow(name, period), tag, count) };
  }

  private find(name: string): NewTag {
    assertTag(name);
    if (this.declared === undefined) return newTagOf(name);
    const tag = this.declared.get(name);
    if (tag?.order === 'gapless') throw gaplessTag(name);
    if (tag === undefined) throw unknownTag(name);
    return tag;
  }

  /** A range ends with each step, as the segments of a database do. */
  private takeFrom(row: string, tag: NewTag, count: number): IdRange[] {
    const first = this.position(row, tag);
    const last = first + BigInt(count) - 1n;
    if (last > lastOf(tag)) throw exhausted(tag);
    this.positions.set(row, last + 1n);
    const [step, start] = [BigInt(tag.step), startOf(tag)];
    const ranges: IdRange[] = [];
    for (let from = first; from <= last;) {
      const end = from + step - 1n - ((from - start) % step);
      ranges.push({ from, to: end < last ? end : last });
      from = end + 1n;
    }
    return ranges;
  }

  private position(row: string, tag: NewTag): bigint {
    return this.positions.get(row) ?? startOf(tag);
  }
}

function startOf({ maxId = 1n }: NewTag): bigint {
  return maxId;
}

function lastOf({ max }: NewTag): bigint {
  return max ?? MAX_ID - 1n;
}

function exhausted({ tag, max }: NewTag): LeafError {
  return new LeafError('LEAF_TAG_EXHAUSTED', `Tag "${tag}" has no IDs left below its last ID ${max ?? MAX_ID - 1n}.`);
}
