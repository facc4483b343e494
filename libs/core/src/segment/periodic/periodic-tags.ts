import { LeafError } from '../../errors/leaf-error';
import { forEachParallel } from '../../util/for-each';
import type { BufferContext } from '../allocation/buffer-context';
import type { DroppedTags } from '../allocation/dropped-tags';
import type { TagRest } from '../allocation/give-back';
import { PeriodicTag, type PeriodicKind } from './periodic-tag';
import type { TagSnapshot, TagVisit } from '../allocation/tag-source';
import { PeriodCalendars } from '../tags/periods';
import { replacedTag } from '../tags/tag-refusals';
import type { TagSources } from './tag-sources';

/** Tags maintained concurrently. */
const WIDTH = 4;

/** The tags of one store that restart with each period. */
export class PeriodicTags {
  private readonly tags = new Map<string, PeriodicTag>();
  private readonly calendars = new PeriodCalendars();

  constructor(
    private readonly context: BufferContext,
    private readonly sources: TagSources,
    private readonly dropped: DroppedTags,
  ) {}

  get(tag: string): PeriodicTag | undefined {
    return this.tags.get(tag);
  }

  get size(): number {
    return this.tags.size;
  }

  all(): PeriodicTag[] {
    return [...this.tags.values()];
  }

  /** Returns the tag with this kind. A known tag of a different kind was deleted and created again; it is replaced. */
  admit(tag: string, kind: PeriodicKind): PeriodicTag {
    const known = this.tags.get(tag);
    if (known !== undefined && isSame(known.kind, kind)) return known;
    this.drop(tag, replacedTag);
    const calendar = this.calendars.of(kind.reset, kind.zone);
    const highest = (row: string): bigint => this.dropped.highestOf(row);
    const added = new PeriodicTag(tag, kind, calendar, this.context, this.sources, highest);
    this.tags.set(tag, added);
    return added;
  }

  /** Removes a deleted tag. Its periods may be gone with it: their highest numbers are recorded like those of tags. */
  drop(tag: string, reason: (tag: string) => LeafError): void {
    const known = this.tags.get(tag);
    if (known === undefined) return;
    for (const [row, highest] of known.taken()) this.dropped.add(row, highest);
    known.end(() => reason(tag));
    this.tags.delete(tag);
  }

  /**
   * See {@link PeriodicTag.maintain}. The next call retries what failed. A fault of one row does not affect other tags.
   *
   * @throws LeafError the first failure
   */
  async maintain(): Promise<void> {
    const faults: LeafError[] = [];
    await forEachParallel(this.all(), WIDTH, async (tag) => {
      try {
        await tag.maintain();
      } catch (error) {
        if (!(error instanceof LeafError) || error.retryable) throw error;
        faults.push(error);
      }
    });
    if (faults[0] !== undefined) throw faults[0];
  }

  close(reason: () => LeafError): TagRest[] {
    const rests = this.all().flatMap((tag) => tag.end(reason));
    this.tags.clear();
    return rests;
  }

  pausedTags(): string[] {
    return this.all().flatMap(({ tag, paused }) => (paused ? [tag] : []));
  }

  snapshots(): TagSnapshot[] {
    return this.all().map((tag) => tag.snapshot());
  }

  visit(visit: TagVisit): void {
    for (const tag of this.tags.values()) tag.visit(visit);
  }
}

function isSame(one: PeriodicKind, other: PeriodicKind): boolean {
  return one.reset === other.reset && one.zone === other.zone && one.order === other.order;
}
