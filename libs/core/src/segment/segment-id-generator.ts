import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock/clock';
import type { LeafError } from '../errors/leaf-error';
import { forEachInPages } from '../pages';
import { forEachParallel } from '../parallel';
import { PeriodicTask } from '../periodic-task';
import type { RandomSource } from '../random';
import { DroppedTags } from './dropped-tags';
import { giveBackAll } from './give-back';
import type { DoubleBufferSnapshot, TagSnapshot, TagVisit } from './segment-view';
import type { IdRange } from './id-range';
import { IdleRetries } from './idle-retries';
import { LoadTotals } from './load-totals';
import type { SegmentEvents } from './segment-events';
import type { SegmentOptions } from './segment-options';
import type { SegmentStore, TagEntry } from './segment-store';
import { assertTag, isTag } from './tag';
import { TagLookup } from './tag-lookup';
import { RetiringTags } from './retiring-tags';
import { invalidRow, pausedTag, replacedTag, stopping, unknownTag } from './tag-refusals';
import type { TagSource } from './tag-source';
import { TagSources } from './tag-sources';

/** First loads under way at once when tags are preloaded. */
const PRELOAD_WIDTH = 4;
/** Tags that are looked at without a pause. */
const PAGE = 1000;
/** `Retry-After` of a paused tag: the length of the pause is not known. */
const PAUSED_RETRY_MS = 5000;

/** The tags of one store, each with its double buffer, or as a strict tag. */
export class SegmentIdGenerator {
  /** Brings the tag set in line with the store, and records there how far tags had come that are gone. Run it every refresh interval. */
  readonly refresh: PeriodicTask;
  readonly totals = new LoadTotals();

  private readonly buffers = new Map<string, TagSource>();
  /** Out of `buffers` while they are paused: the other tags do not pay for it. */
  private readonly paused = new Map<string, TagSource>();
  private readonly lookup: TagLookup;
  private readonly dropped: DroppedTags;
  private readonly sources: TagSources;
  private readonly closing = new AbortController();
  /** Out of the maps. */
  private readonly retiring = new RetiringTags();
  private closed: Promise<void> | undefined;

  constructor(
    private readonly store: SegmentStore,
    private readonly clock: Clock,
    random: RandomSource,
    options: SegmentOptions,
    events: SegmentEvents,
  ) {
    this.lookup = new TagLookup(store, clock, options.waitMs);
    this.dropped = new DroppedTags(store);
    const { totals, closing } = this;
    // Every failing tag waits for its next try on this signal.
    setMaxListeners(0, closing.signal);
    const { onLoadFailed } = events;
    const idleRetries = new IdleRetries(clock);
    const context = { store, clock, random, options, totals, onLoadFailed, idleRetries, closing: closing.signal };
    this.sources = new TagSources(context);
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
   *   `LEAF_TAG_EXHAUSTED`, `LEAF_TAG_ROW_INVALID`, `LEAF_TAG_PAUSED`, or `LEAF_NOT_READY` once closed
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

  /** The store has the tag from now on: earlier lookups that did not find it no longer count. */
  add(entry: TagEntry): void {
    if (this.closed === undefined && !this.paused.has(entry.tag)) this.admit(entry);
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
    if (!this.paused.has(tag) && !this.buffers.has(tag)) await this.find(tag);
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
    const buffer = this.paused.get(tag);
    if (buffer === undefined) {
      if (!this.buffers.has(tag)) await this.find(tag);
      return false;
    }
    this.paused.delete(tag);
    this.buffers.set(tag, buffer);
    return true;
  }

  /** Whether the IDs of a tag ascend over all servers; false of one that is not known. */
  isStrict(tag: string): boolean {
    return this.sourceOf(tag)?.order === 'strict';
  }

  pausedTags(): string[] {
    return [...this.paused.keys()];
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

  snapshot(): DoubleBufferSnapshot[] {
    return this.allBuffers().map((buffer) => buffer.snapshot());
  }

  /** Of one tag: of many, slice by slice, without a long stop. Undefined when it is not known. */
  snapshotOf(tag: string): TagSnapshot | undefined {
    const snapshot = this.sourceOf(tag)?.snapshot();
    return snapshot && { ...snapshot, paused: this.paused.has(tag) };
  }

  /** Another number when {@link snapshotOf} would be another one; undefined when the tag is not known. */
  revisionOf(tag: string): number | undefined {
    const revision = this.buffers.get(tag)?.revision;
    if (revision !== undefined) return revision;
    const paused = this.paused.get(tag);
    return paused && -1 - paused.revision;
  }

  get tagCount(): number {
    return this.buffers.size + this.paused.size;
  }

  /** Calls `visit` with each tag's issued and buffered IDs and its step, without the cost of a snapshot. */
  visit(visit: TagVisit): void {
    for (const buffers of [this.buffers, this.paused]) for (const buffer of buffers.values()) show(buffer, visit);
  }

  /** As {@link visit}, of one tag, if it is known. */
  visitOne(tag: string, visit: TagVisit): void {
    const buffer = this.sourceOf(tag);
    if (buffer !== undefined) show(buffer, visit);
  }

  /** As {@link visit}, of many tags: requests pass in between, so that no two tags are seen at one moment. */
  survey(visit: TagVisit): Promise<void> {
    return this.forEach(this.allBuffers(), (buffer) => show(buffer, visit));
  }

  /** IDs handed out, those of tags that are gone included. */
  get issued(): number {
    let sum = this.retiring.issued;
    // Asked for every second, of all tags there are: it makes no lists.
    for (const buffers of [this.buffers, this.paused]) for (const buffer of buffers.values()) sum += buffer.issued;
    return sum;
  }

  private async refreshTags(): Promise<void> {
    const known = [...this.buffers.keys(), ...this.paused.keys()];
    const stored = new Set<string>();
    await this.forEach(await this.store.listTags(), (entry) => {
      stored.add(entry.tag);
      if (isTag(entry.tag)) this.update(entry);
    });
    await this.forEach(known, (tag) => {
      if (!stored.has(tag)) void this.drop(tag, unknownTag);
    });
    await this.dropped.record();
  }

  private forEach<Item>(items: Iterable<Item>, act: (item: Item) => void): Promise<void> {
    return forEachInPages(items, PAGE, act, this.clock, this.closing.signal);
  }

  /** The order of a tag never changes: a row that has another one was deleted and inserted again. */
  private update(entry: TagEntry): void {
    const { tag, kind } = entry;
    if ((this.sourceOf(tag)?.order ?? kind?.order) !== kind?.order) void this.drop(tag, replacedTag);
    if (kind !== undefined && !this.paused.has(tag)) this.admit(entry);
  }

  private admit(entry: TagEntry): TagSource {
    const source = this.buffers.get(entry.tag) ?? this.sources.open(entry, this.dropped.highestOf(entry.tag));
    this.buffers.set(entry.tag, source);
    return source;
  }

  private async drop(tag: string, reason: (tag: string) => LeafError): Promise<void> {
    const source = this.sourceOf(tag);
    this.buffers.delete(tag);
    this.paused.delete(tag);
    if (source === undefined) return;
    this.dropped.add(tag, source.highest);
    await this.retiring.retire(source, () => reason(tag));
  }

  private sourceOf(tag: string): TagSource | undefined {
    return this.buffers.get(tag) ?? this.paused.get(tag);
  }

  private async find(tag: string): Promise<TagSource> {
    assertTag(tag);
    this.assertServed(tag);
    const found = await this.lookup.find(tag);
    this.assertServed(tag);
    if (found?.kind === undefined) throw found === undefined ? unknownTag(tag) : invalidRow(tag);
    return this.admit(found);
  }

  private async shut(): Promise<void> {
    this.closing.abort();
    const rests = this.allBuffers().map((buffer) => ({
      tag: buffer.tag,
      ranges: this.retiring.retire(buffer, stopping),
    }));
    this.buffers.clear();
    this.paused.clear();
    await this.refresh.stop();
    await giveBackAll(this.store, rests);
  }

  private assertServed(tag: string): void {
    if (this.closed !== undefined) throw stopping();
    if (this.paused.has(tag)) throw pausedTag(tag, PAUSED_RETRY_MS);
  }

  private allBuffers(): TagSource[] {
    return [...this.buffers.values(), ...this.paused.values()];
  }
}

function show({ tag, issued, buffered, step }: TagSource, visit: TagVisit): void {
  visit(tag, issued, buffered, step);
}
