import type { Clock } from '../clock/clock';
import { settledBefore } from '../deadline';
import type { LeafError } from '../errors/leaf-error';
import type { HistogramSnapshot } from '../histogram';
import { forEachParallel } from '../parallel';
import { PeriodicTask } from '../periodic-task';
import type { RandomSource } from '../random';
import type { BufferContext } from './buffer-context';
import { DoubleBuffer } from './double-buffer';
import type { DoubleBufferSnapshot, TagSnapshot } from './segment-view';
import type { IdRange } from './id-range';
import { LoadTotals } from './load-totals';
import type { SegmentEvents } from './segment-events';
import type { SegmentOptions } from './segment-options';
import type { SegmentStore } from './segment-store';
import { assertTag, isTag } from './tag';
import { pausedTag, stopping, unknownTag } from './tag-refusals';
import { segmentUnavailable } from './unavailable';
import { UnknownTags } from './unknown-tags';

/** First loads under way at once when tags are preloaded. */
const PRELOAD_WIDTH = 4;
/** Tags that a refresh looks at without a pause. */
const REFRESH_PAGE = 1000;
/** When to ask for a paused tag again; nobody knows how long the pause lasts. */
const PAUSED_RETRY_MS = 5000;
/** Give-backs under way at once when the generator closes. */
const CLOSE_WIDTH = 8;

/** The tags of one store, each with its {@link DoubleBuffer}. */
export class SegmentIdGenerator {
  /** Brings the tag set in line with the store. Run it every refresh interval. */
  readonly refresh: PeriodicTask;
  readonly totals = new LoadTotals();

  private readonly buffers = new Map<string, DoubleBuffer>();
  /** Out of `buffers` while they are paused: the other tags do not pay for it. */
  private readonly paused = new Map<string, DoubleBuffer>();
  private readonly lookups = new Map<string, Promise<DoubleBuffer>>();
  private readonly unknown: UnknownTags;
  private readonly context: BufferContext;
  private readonly closing = new AbortController();
  /** Out of the maps, with an allocation still under way. */
  private readonly retiring = new Set<DoubleBuffer>();
  /** IDs handed out by buffers that are retired. */
  private issuedBefore = 0;
  private closed: Promise<void> | undefined;

  constructor(
    private readonly store: SegmentStore,
    private readonly clock: Clock,
    random: RandomSource,
    options: SegmentOptions,
    events: SegmentEvents,
  ) {
    this.unknown = new UnknownTags(clock);
    const { totals, closing } = this;
    const { onLoadFailed } = events;
    this.context = { store, clock, random, options, totals, onLoadFailed, closing: closing.signal };
    this.refresh = new PeriodicTask('tag-refresh', () => this.refreshTags(), clock, events.onRefreshFailed);
  }

  /** The next ID of a tag that is known and buffered; undefined otherwise, see {@link next}. */
  tryNext(tag: string): bigint | undefined {
    return this.buffers.get(tag)?.tryNext();
  }

  /**
   * The next ID of `tag`, waiting for the store only when no ID is buffered.
   *
   * @throws LeafError `LEAF_TAG_INVALID`, `LEAF_TAG_NOT_FOUND`, `LEAF_SEGMENT_UNAVAILABLE`, `LEAF_STORE_UNAVAILABLE`,
   *   `LEAF_TAG_EXHAUSTED`, `LEAF_TAG_ROW_INVALID`, `LEAF_TAG_PAUSED`, or `LEAF_NOT_READY` once closed
   */
  async next(tag: string): Promise<bigint> {
    return (this.buffers.get(tag) ?? (await this.lookup(tag))).take();
  }

  /**
   * The next `count` IDs of `tag` as ascending ranges.
   *
   * @throws LeafError as {@link next}
   */
  async takeRanges(tag: string, count: number): Promise<IdRange[]> {
    return (this.buffers.get(tag) ?? (await this.lookup(tag))).takeRanges(count);
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

  /** The store has the tag from now on: no earlier answer says otherwise. */
  add(tag: string): void {
    if (this.closed === undefined && !this.paused.has(tag)) this.admit(tag);
  }

  /** The store has the tag no more: its calls, waiting ones included, are refused at once, and a pause is over. */
  remove(tag: string): void {
    void this.drop(tag);
  }

  /**
   * Refuses the calls of `tag` with `LEAF_TAG_PAUSED` until {@link resume}, and keeps its segments. Calls that wait for
   * a segment already are still answered.
   *
   * @returns false when it was paused before
   * @throws LeafError as {@link next}, of a tag that is not known yet
   */
  async pause(tag: string): Promise<boolean> {
    if (!this.paused.has(tag) && !this.buffers.has(tag)) await this.lookup(tag);
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
      if (!this.buffers.has(tag)) await this.lookup(tag);
      return false;
    }
    this.paused.delete(tag);
    this.buffers.set(tag, buffer);
    return true;
  }

  pausedTags(): string[] {
    return [...this.paused.keys()];
  }

  /**
   * Refuses further calls, waits for the allocations under way and gives what was not issued back to the store.
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
    const paused = this.paused.get(tag);
    const snapshot = (paused ?? this.buffers.get(tag))?.snapshot();
    return snapshot && { ...snapshot, paused: paused !== undefined };
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
  visit(visit: (tag: string, issued: number, buffered: number, step: number) => void): void {
    for (const { tag, issued, buffered, step } of this.allBuffers()) visit(tag, issued, buffered, step);
  }

  /** IDs handed out, those of tags that are gone included. */
  get issued(): number {
    return [...this.allBuffers(), ...this.retiring].reduce((sum, { issued }) => sum + issued, this.issuedBefore);
  }

  /** Milliseconds that the store took for an allocation, of all tags. */
  loadTimes(): HistogramSnapshot {
    return this.totals.times.snapshot();
  }

  private async refreshTags(): Promise<void> {
    const known = this.allBuffers().map(({ tag }) => tag);
    const stored = new Set(await this.store.listTags());
    await this.forEach(stored, (tag) => {
      if (isTag(tag) && !this.paused.has(tag)) this.admit(tag);
    });
    await this.forEach(known, (tag) => {
      if (!stored.has(tag)) void this.drop(tag);
    });
  }

  /** Lets requests pass after each page; ends early once closed. */
  private async forEach(tags: Iterable<string>, act: (tag: string) => void): Promise<void> {
    let done = 0;
    for (const tag of tags) {
      if (this.closed !== undefined) return;
      act(tag);
      if (++done % REFRESH_PAGE === 0) await this.clock.sleep(0, this.closing.signal);
    }
  }

  private admit(tag: string): DoubleBuffer {
    let buffer = this.buffers.get(tag);
    if (buffer === undefined) {
      buffer = new DoubleBuffer(tag, this.context);
      this.buffers.set(tag, buffer);
    }
    return buffer;
  }

  private async drop(tag: string): Promise<void> {
    const buffer = this.buffers.get(tag) ?? this.paused.get(tag);
    this.buffers.delete(tag);
    this.paused.delete(tag);
    if (buffer !== undefined) await this.retire(buffer, () => unknownTag(tag));
  }

  private async retire(buffer: DoubleBuffer, reason: () => LeafError): Promise<IdRange[]> {
    this.retiring.add(buffer);
    const rest = await buffer.retire(reason);
    this.retiring.delete(buffer);
    this.issuedBefore += buffer.issued;
    return rest;
  }

  private lookup(tag: string): Promise<DoubleBuffer> {
    let running = this.lookups.get(tag);
    if (running === undefined) {
      running = this.find(tag).finally(() => this.lookups.delete(tag));
      this.lookups.set(tag, running);
    }
    return running;
  }

  private async find(tag: string): Promise<DoubleBuffer> {
    assertTag(tag);
    this.assertServed(tag);
    if (this.unknown.has(tag)) throw unknownTag(tag);
    const found = await this.ask(tag);
    this.assertServed(tag);
    if (found) return this.admit(tag);
    this.unknown.add(tag);
    throw unknownTag(tag);
  }

  private async ask(tag: string): Promise<boolean> {
    const answer = this.store.hasTag(tag);
    const { waitMs } = this.context.options;
    if (await settledBefore(answer, this.clock.monotonic() + waitMs, this.clock)) return answer;
    throw segmentUnavailable(tag, waitMs, undefined);
  }

  private async shut(): Promise<void> {
    this.closing.abort();
    const rests = this.allBuffers().map((buffer) => ({ tag: buffer.tag, rest: this.retire(buffer, stopping) }));
    this.buffers.clear();
    this.paused.clear();
    await this.refresh.stop();
    await forEachParallel(rests, CLOSE_WIDTH, async ({ tag, rest }) => this.giveBack(tag, await rest));
  }

  /** Newest range first: each one moves the row down to where the next one ends. */
  private async giveBack(tag: string, rest: readonly IdRange[]): Promise<void> {
    for (const range of rest) {
      if (!(await this.store.giveBack(tag, range))) return;
    }
  }

  private assertServed(tag: string): void {
    if (this.closed !== undefined) throw stopping();
    if (this.paused.has(tag)) throw pausedTag(tag, PAUSED_RETRY_MS);
  }

  private allBuffers(): DoubleBuffer[] {
    return [...this.buffers.values(), ...this.paused.values()];
  }
}
