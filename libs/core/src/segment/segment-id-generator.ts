import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock/clock';
import type { LeafError } from '../errors/leaf-error';
import { forEachParallel } from '../parallel';
import { PeriodicTask } from '../periodic-task';
import type { RandomSource } from '../random';
import { DroppedTags } from './dropped-tags';
import { giveBackAll, type TagRest } from './give-back';
import type { IdRange } from './id-range';
import { IdleRetries } from './idle-retries';
import { KnownTags } from './known-tags';
import { LoadTotals } from './load-totals';
import { isPeriodic, type PeriodicTag } from './periodic-tag';
import { PeriodicTags } from './periodic-tags';
import type { PeriodRanges } from './periods';
import type { SegmentEvents } from './segment-events';
import type { SegmentOptions } from './segment-options';
import type { SegmentStore, TagEntry } from './segment-store';
import { assertTag, isTag } from './tag';
import { TagLookup } from './tag-lookup';
import {
  invalidRow,
  pausedTag,
  periodicTag,
  replacedTag,
  stopping,
  tagWithoutPeriods,
  unknownTag,
} from './tag-refusals';
import type { TagSource } from './tag-source';
import { TagSources } from './tag-sources';

/** First loads under way at once when tags are preloaded. */
const PRELOAD_WIDTH = 4;

/** The tags of one store, each with its double buffer, or as a strict tag. */
export class SegmentIdGenerator extends KnownTags {
  /** Brings the tag set in line with the store, and records there how far tags had come that are gone. Run it every refresh interval. */
  readonly refresh: PeriodicTask;
  readonly totals = new LoadTotals();

  private readonly lookup: TagLookup;
  private readonly dropped: DroppedTags;
  private readonly sources: TagSources;
  protected readonly periodic: PeriodicTags;
  private closed: Promise<void> | undefined;

  constructor(
    private readonly store: SegmentStore,
    clock: Clock,
    random: RandomSource,
    options: SegmentOptions,
    events: SegmentEvents,
  ) {
    super(clock);
    this.lookup = new TagLookup(store, clock, options.waitMs);
    this.dropped = new DroppedTags(store);
    const { totals, closing } = this;
    // Every failing tag waits for its next try on this signal.
    setMaxListeners(0, closing.signal);
    const { onLoadFailed } = events;
    const idleRetries = new IdleRetries(clock);
    const context = { store, clock, random, options, totals, onLoadFailed, idleRetries, closing: closing.signal };
    this.sources = new TagSources(context);
    this.periodic = new PeriodicTags(context, this.sources, this.retiring);
    this.refresh = new PeriodicTask('tag-refresh', () => this.refreshTags(), clock, events.onRefreshFailed);
  }

  /** The next ID of a tag that is known and buffered; undefined otherwise, see {@link next}. */
  tryNext(tag: string): bigint | undefined {
    return this.buffers.get(tag)?.tryNext();
  }

  /** As {@link takeRanges} of a tag that is known and has as many buffered; undefined otherwise. */
  tryRanges(tag: string, count: number): IdRange[] | undefined {
    return this.buffers.get(tag)?.tryRanges(count);
  }

  /**
   * The next ID of `tag`, waiting for the store only when no ID is buffered.
   *
   * @throws LeafError `LEAF_TAG_INVALID`, `LEAF_TAG_NOT_FOUND`, `LEAF_SEGMENT_UNAVAILABLE`, `LEAF_STORE_UNAVAILABLE`,
   *   `LEAF_TAG_EXHAUSTED`, `LEAF_TAG_ROW_INVALID`, `LEAF_TAG_PAUSED`, `LEAF_TAG_PERIODIC`, or `LEAF_NOT_READY` once
   *   closed
   */
  async next(tag: string): Promise<bigint> {
    return (this.buffers.get(tag) ?? (await this.find(tag))).take();
  }

  /**
   * The next `count` IDs of `tag` as ascending ranges.
   *
   * @throws LeafError as {@link next}
   */
  async takeRanges(tag: string, count: number): Promise<IdRange[]> {
    return (this.buffers.get(tag) ?? (await this.find(tag))).takeRanges(count);
  }

  /**
   * The next `count` numbers of a tag that begins anew with each period.
   *
   * @param at a moment of the period, in Unix milliseconds; now when left out
   * @throws LeafError as {@link next}, `LEAF_TAG_NOT_PERIODIC` in place of `LEAF_TAG_PERIODIC`, and `LEAF_PERIOD_INVALID`
   */
  async takeInPeriod(tag: string, count: number, at?: number): Promise<PeriodRanges> {
    return (this.periodic.get(tag) ?? (await this.findPeriodic(tag))).take(count, at);
  }

  /**
   * Fetches the first segments of `tags` ahead of their first calls, a few at a time; unknown tags are passed over.
   *
   * @param limitMs no further tag is begun after this time, in milliseconds
   * @returns how many tags were begun
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
   * The store has the tag as `entry` says: no earlier answer says otherwise. Order and periods of a tag never change: a row
   * that has others was deleted and inserted again.
   */
  add(entry: TagEntry): void {
    if (this.closed !== undefined) return;
    const { tag, kind } = entry;
    if (this.isReplacedBy(entry)) void this.drop(tag, replacedTag);
    if (kind !== undefined && !this.paused.has(tag)) this.admit(entry);
  }

  /** The store has the tag no more: its calls, waiting ones included, are refused at once, and a pause is over. */
  remove(tag: string): void {
    void this.drop(tag, unknownTag);
  }

  /**
   * Refuses the calls of `tag` with `LEAF_TAG_PAUSED` until {@link resume}, and keeps its segments. Calls that wait for
   * a segment already are still answered.
   *
   * @returns false when it was paused before
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
   * Serves `tag` again, from where it stopped.
   *
   * @returns false when it was not paused
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
   * Refuses further calls, waits for the allocations under way and gives what was not issued back to the store. Nothing
   * is under way when it settles: the connection may be closed.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE` when the store fails meanwhile; what was not given back stays a gap
   */
  close(): Promise<void> {
    this.closed ??= this.shut();
    return this.closed;
  }

  private async refreshTags(): Promise<void> {
    const known = [...this.buffers.keys(), ...this.paused.keys(), ...this.periodic.names()];
    const stored = new Set<string>();
    await this.forEach(await this.store.listTags(), (entry) => {
      stored.add(entry.tag);
      if (isTag(entry.tag)) this.add(entry);
    });
    await this.forEach(known, (tag) => {
      if (!stored.has(tag)) void this.drop(tag, unknownTag);
    });
    await this.dropped.record();
    await this.periodic.maintain();
  }

  private isReplacedBy({ tag, kind }: TagEntry): boolean {
    const source = this.sourceOf(tag);
    if (source !== undefined) return isPeriodic(kind) || kind?.order !== source.order;
    return this.periodic.get(tag) !== undefined && !isPeriodic(kind);
  }

  private admit(entry: TagEntry): void {
    const { tag, kind } = entry;
    if (!this.isKnown(tag)) this.noteMembership();
    if (isPeriodic(kind)) this.periodic.admit(tag, kind);
    else if (!this.buffers.has(tag)) this.buffers.set(tag, this.sources.open(entry, this.dropped.highestOf(tag)));
  }

  private async drop(tag: string, reason: (tag: string) => LeafError): Promise<void> {
    const source = this.sourceOf(tag);
    if (this.isKnown(tag)) this.noteMembership();
    this.periodic.drop(tag, reason);
    this.buffers.delete(tag);
    this.paused.delete(tag);
    if (source === undefined) return;
    this.dropped.add(tag, source.highest);
    await this.retiring.retire(source, () => reason(tag));
  }

  private async find(tag: string): Promise<TagSource> {
    await this.lookUp(tag);
    // It may be closed, paused or gone since.
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
    throw this.isKnown(tag) ? tagWithoutPeriods(tag) : unknownTag(tag);
  }

  /** Makes the tag known. */
  private async lookUp(tag: string): Promise<void> {
    assertTag(tag);
    this.assertServed(tag);
    if (this.isKnown(tag)) return;
    const found = await this.lookup.find(tag);
    this.assertServed(tag);
    if (found?.kind === undefined) throw found === undefined ? unknownTag(tag) : invalidRow(tag);
    if (!this.isKnown(tag)) this.admit(found);
  }

  private async shut(): Promise<void> {
    this.closing.abort();
    const rests = this.allBuffers().map((buffer): TagRest => {
      return { tag: buffer.tag, ranges: this.retiring.retire(buffer, stopping) };
    });
    rests.push(...this.periodic.close(stopping));
    this.buffers.clear();
    this.paused.clear();
    await this.refresh.stop();
    await giveBackAll(this.store, rests);
  }

  private isKnown(tag: string): boolean {
    return this.buffers.has(tag) || this.paused.has(tag) || this.periodic.get(tag) !== undefined;
  }

  private assertServed(tag: string): void {
    if (this.closed !== undefined) throw stopping();
    if (this.paused.has(tag)) throw pausedTag(tag);
  }
}

/** @returns whether it was otherwise before */
function setPaused(tag: PeriodicTag, paused: boolean): boolean {
  const changed = tag.paused !== paused;
  tag.paused = paused;
  return changed;
}
