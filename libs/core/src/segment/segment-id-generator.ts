import type { Clock } from '../clock/clock';
import type { LeafError } from '../errors/leaf-error';
import { forEachParallel } from '../util/for-each';
import { PeriodicTask } from '../util/periodic-task';
import type { RandomSource } from '../util/random';
import { DroppedTags } from './allocation/dropped-tags';
import { giveBackAll, type TagRest } from './allocation/give-back';
import type { IdRange } from './tags/id-range';
import { IdleRetries, MAX_UNSERVED, type SegmentEvents } from './allocation/buffer-context';
import { KnownTags } from './directory/known-tags';
import { LoadTotals } from './allocation/range-source';
import { isPeriodic, type PeriodicTag } from './periodic/periodic-tag';
import { PeriodicTags } from './periodic/periodic-tags';
import type { PeriodRanges } from './tags/periods';
import type { SegmentOptions } from './allocation/segment-options';
import type { SegmentStore, TagEntry } from './tags/segment-store';
import { type TagReset, assertTag, isTag } from './tags/tag-settings';
import { TagLookup } from './directory/tag-lookup';
import {
  gaplessTag,
  invalidRow,
  pausedTag,
  periodicTag,
  replacedTag,
  stopping,
  tagWithoutPeriods,
  unknownTag,
} from './tags/tag-refusals';
import type { TagSource } from './allocation/tag-source';
import { TagSources } from './periodic/tag-sources';

/** Concurrent loads of {@link SegmentIdGenerator.preload}. */
const PRELOAD_WIDTH = 4;

/** Issues the IDs of all tags of one store. */
export class SegmentIdGenerator extends KnownTags {
  /**
   * Synchronizes the tags with the store, and records the highest IDs of removed tags there. Run it every refresh
   * interval.
   */
  readonly refresh: PeriodicTask;
  readonly totals = new LoadTotals();

  private readonly lookup: TagLookup;
  private readonly dropped: DroppedTags;
  private readonly sources: TagSources;
  protected readonly periodic: PeriodicTags;
  private closed: Promise<number> | undefined;
  /** Names of rows that are not valid tags. */
  private readonly unserved = new Set<string>();
  /** Number of the newest refresh. A tag that it has not found at its end is gone. */
  private listing = 0;

  constructor(
    private readonly store: SegmentStore,
    clock: Clock,
    random: RandomSource,
    options: SegmentOptions,
    private readonly events: SegmentEvents,
  ) {
    super(clock);
    this.dropped = new DroppedTags(store);
    const { totals, closing, used } = this;
    this.lookup = new TagLookup(store, clock, options.waitMs, closing.signal);
    const { onLoadFailed } = events;
    const idleRetries = new IdleRetries(clock);
    const context = { store, clock, random, options, totals, onLoadFailed, idleRetries, used, closing: closing.signal };
    this.sources = new TagSources(context);
    this.periodic = new PeriodicTags(context, this.sources, this.dropped);
    this.refresh = new PeriodicTask('tag-refresh', () => this.refreshTags(), clock, events.onRefreshFailed);
  }

  /** The next ID of a tag that is known and has buffered IDs; otherwise undefined: use {@link next}. */
  tryNext(tag: string): bigint | undefined {
    return this.buffers.find(tag)?.tryNext();
  }

  /** As {@link tryNext}, as a number; undefined also when a number cannot represent the ID exactly. */
  tryNextNumber(tag: string): number | undefined {
    return this.buffers.find(tag)?.tryNextNumber();
  }

  /** As {@link takeRanges}, for a tag that is known and has these IDs in its buffer; otherwise undefined. */
  tryRanges(tag: string, count: number, consecutive = false): IdRange[] | undefined {
    return this.buffers.get(tag)?.tryRanges(count, consecutive);
  }

  /**
   * The next ID of `tag`. Waits for the store only if no ID is buffered.
   *
   * @throws LeafError `LEAF_TAG_INVALID`, `LEAF_TAG_NOT_FOUND`, `LEAF_SEGMENT_UNAVAILABLE`, `LEAF_STORE_UNAVAILABLE`,
   *   `LEAF_TAG_EXHAUSTED`, `LEAF_TAG_ROW_INVALID`, `LEAF_TAG_PAUSED`, `LEAF_TAG_PERIODIC`, or `LEAF_NOT_READY` once
   *   closed
   */
  async next(tag: string): Promise<bigint> {
    return this.tryNext(tag) ?? (this.buffers.get(tag) ?? (await this.find(tag))).take();
  }

  /**
   * The next `count` IDs of `tag` as ascending ranges.
   *
   * @param consecutive the ranges adjoin each other; buffered IDs below them become a gap
   * @throws LeafError as {@link next}; `LEAF_SIZE_INVALID` if the store gives fewer consecutive IDs
   */
  async takeRanges(tag: string, count: number, consecutive = false): Promise<IdRange[]> {
    return (this.buffers.get(tag) ?? (await this.find(tag))).takeRanges(count, consecutive);
  }

  /**
   * The next `count` numbers of a tag that restarts with each period.
   *
   * @param at a time in the period, in Unix milliseconds; defaults to now
   * @throws LeafError as {@link next}, with `LEAF_TAG_NOT_PERIODIC` instead of `LEAF_TAG_PERIODIC`, and
   *   `LEAF_PERIOD_INVALID`
   */
  async takeInPeriod(tag: string, count: number, at?: number): Promise<PeriodRanges> {
    return (this.periodic.get(tag) ?? (await this.findPeriodic(tag))).take(count, at);
  }

  /**
   * How often a tag restarts.
   *
   * @throws LeafError as {@link takeInPeriod}
   */
  async resetOf(tag: string): Promise<TagReset> {
    return (this.periodic.get(tag) ?? (await this.findPeriodic(tag))).kind.reset;
  }

  /**
   * Loads the first segments of `tags` before their first calls, a few at a time. Skips unknown tags.
   *
   * @param limitMs no load starts after this time, in milliseconds
   * @returns number of tags whose load was started
   */
  async preload(tags: readonly string[], limitMs: number): Promise<number> {
    const deadline = this.clock.monotonic() + limitMs;
    let begun = 0;
    await forEachParallel(tags, PRELOAD_WIDTH, async (tag) => {
      const buffer = this.buffers.get(tag);
      if (buffer === undefined || this.clock.monotonic() >= deadline) return;
      begun++;
      await buffer.preload();
    });
    return begun;
  }

  /**
   * Adds a tag that the store has. Order and periods of a tag never change: a row with different ones was deleted and
   * inserted again, and replaces the known tag.
   */
  add(entry: TagEntry): void {
    if (this.closed !== undefined) return;
    const { tag, kind } = entry;
    if (this.isReplacedBy(entry)) void this.drop(tag, replacedTag);
    if (kind !== undefined) this.admit(entry);
  }

  /** Removes a deleted tag: later and waiting calls are refused, and a pause ends. */
  remove(tag: string): void {
    void this.drop(tag, unknownTag);
  }

  /**
   * Refuses calls for `tag` with `LEAF_TAG_PAUSED` until {@link resume}, and keeps its segments. Calls that are already
   * waiting for a segment are still served.
   *
   * @returns false if the tag was already paused
   * @throws LeafError as {@link next}, of a tag that is not known yet
   */
  async pause(tag: string): Promise<boolean> {
    if (!this.isKnown(tag)) await this.lookUp(tag);
    const periodic = this.periodic.get(tag);
    if (periodic !== undefined) return setPaused(periodic, true);
    if (this.paused.has(tag)) return false;
    const buffer = this.buffers.get(tag);
    if (buffer === undefined) throw unknownTag(tag);
    this.buffers.delete(tag);
    this.paused.set(tag, buffer);
    return true;
  }

  /**
   * Serves `tag` again, from its kept segments.
   *
   * @returns false if the tag was not paused
   * @throws LeafError as {@link next}, of a tag that is not known yet
   */
  async resume(tag: string): Promise<boolean> {
    if (!this.isKnown(tag)) await this.lookUp(tag);
    const periodic = this.periodic.get(tag);
    if (periodic !== undefined) return setPaused(periodic, false);
    const buffer = this.paused.get(tag);
    if (buffer === undefined) return false;
    this.paused.delete(tag);
    this.buffers.set(tag, buffer);
    return true;
  }

  /**
   * Refuses further calls, waits for allocations in progress and returns unissued IDs to the store. Resolves with
   * the number of IDs returned. When it settles, no call to the store is in progress, and the connection may be closed.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE` when the store fails; ranges that were not returned become gaps
   */
  close(): Promise<number> {
    this.closed ??= this.shut();
    return this.closed;
  }

  private async refreshTags(): Promise<void> {
    this.listing++;
    for await (const page of this.store.tagPages()) {
      if (this.closing.signal.aborted) break;
      await this.forEach(page, (entry) => (isTag(entry.tag) ? this.add(entry) : this.noteUnserved(entry.tag)));
    }
    await this.forEach([...this.allBuffers(), ...this.periodic.all()], (known) => {
      // Between two slices, the tag may have been deleted and created again.
      if (known.listed !== this.listing && this.knownAs(known.tag) === known) void this.drop(known.tag, unknownTag);
    });
    await this.dropped.record();
    await this.periodic.maintain();
  }

  private noteUnserved(name: string): void {
    if (this.unserved.has(name) || this.unserved.size >= MAX_UNSERVED) return;
    this.unserved.add(name);
    this.events.onUnserved?.(name);
  }

  private isReplacedBy({ tag, kind }: TagEntry): boolean {
    const source = this.sourceOf(tag);
    if (source !== undefined) return isPeriodic(kind) || kind?.order !== source.order;
    return this.periodic.get(tag) !== undefined && !isPeriodic(kind);
  }

  private admit(entry: TagEntry): void {
    const { tag, kind } = entry;
    if (!this.isKnown(tag)) this.noteMembership();
    const known = isPeriodic(kind) ? this.periodic.admit(tag, kind) : (this.sourceOf(tag) ?? this.open(entry));
    known.listed = this.listing;
  }

  private open(entry: TagEntry): TagSource {
    const source = this.sources.open(entry, this.dropped.highestOf(entry.tag));
    this.buffers.set(entry.tag, source);
    return source;
  }

  private async drop(tag: string, reason: (tag: string) => LeafError): Promise<void> {
    const source = this.sourceOf(tag);
    if (this.isKnown(tag)) this.noteMembership();
    this.periodic.drop(tag, reason);
    this.buffers.delete(tag);
    this.paused.delete(tag);
    if (source === undefined) return;
    this.dropped.add(tag, source.highest);
    await this.used.retire(source, () => reason(tag));
  }

  private async find(tag: string): Promise<TagSource> {
    await this.lookUp(tag);
    // The tag may have been paused or removed, or the generator closed, during the lookup.
    this.assertServed(tag);
    const source = this.buffers.get(tag);
    if (source !== undefined) return source;
    throw this.periodic.get(tag) === undefined ? unknownTag(tag) : periodicTag(tag);
  }

  private async findPeriodic(tag: string): Promise<PeriodicTag> {
    if (!this.isKnown(tag)) await this.lookUp(tag);
    this.assertServed(tag);
    const periodic = this.periodic.get(tag);
    if (periodic !== undefined) return periodic;
    if (!this.isKnown(tag)) throw unknownTag(tag);
    throw this.sourceOf(tag)?.order === 'gapless' ? gaplessTag(tag) : tagWithoutPeriods(tag);
  }

  /** Looks up the tag in the store, unless it is known. */
  private async lookUp(tag: string): Promise<void> {
    assertTag(tag);
    this.assertServed(tag);
    if (this.isKnown(tag)) return;
    const found = await this.lookup.find(tag);
    this.assertServed(tag);
    if (found?.kind === undefined) throw found === undefined ? unknownTag(tag) : invalidRow(tag);
    if (!this.isKnown(tag)) this.admit(found);
  }

  private async shut(): Promise<number> {
    this.closing.abort();
    const rests = this.allBuffers().map((buffer): TagRest => {
      return { tag: buffer.tag, ranges: this.used.retire(buffer, stopping) };
    });
    rests.push(...this.periodic.close(stopping));
    this.buffers.clear();
    this.paused.clear();
    await this.refresh.stop();
    return giveBackAll(this.store, rests);
  }

  private assertServed(tag: string): void {
    if (this.closed !== undefined) throw stopping();
    if (this.paused.has(tag)) throw pausedTag(tag);
  }
}

/** @returns whether the state changed */
function setPaused(tag: PeriodicTag, paused: boolean): boolean {
  const changed = tag.paused !== paused;
  tag.paused = paused;
  return changed;
}
