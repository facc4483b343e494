import type { Clock } from '../clock/clock';
import { settledBefore } from '../deadline';
import { LeafError } from '../errors/leaf-error';
import { PeriodicTask } from '../periodic-task';
import type { RandomSource } from '../random';
import type { BufferContext } from './buffer-context';
import { DoubleBuffer } from './double-buffer';
import type { DoubleBufferSnapshot } from './segment-view';
import type { IdRange } from './id-range';
import type { SegmentOptions } from './segment-options';
import type { SegmentStore } from './segment-store';
import { assertTag, isTag } from './tag';
import { segmentUnavailable } from './unavailable';

export interface SegmentEvents {
  /** Loads of a tag began to fail, or still do. */
  readonly onLoadFailed: (tag: string, error: unknown) => void;
  readonly onRefreshFailed: (error: unknown) => void;
}

/** A tag that the store does not have is answered from memory this long, in milliseconds. */
const NOT_FOUND_MS = 1000;
/** So many unknown tags are kept in mind; more are forgotten, oldest first. */
const NOT_FOUND_KEPT = 10_000;
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

  private readonly buffers = new Map<string, DoubleBuffer>();
  /** Out of `buffers` while they are paused: the other tags do not pay for it. */
  private readonly paused = new Map<string, DoubleBuffer>();
  private readonly lookups = new Map<string, Promise<DoubleBuffer>>();
  private readonly notFoundUntil = new Map<string, number>();
  private readonly context: BufferContext;
  private readonly closing = new AbortController();
  private closed: Promise<void> | undefined;

  constructor(
    private readonly store: SegmentStore,
    private readonly clock: Clock,
    random: RandomSource,
    options: SegmentOptions,
    events: SegmentEvents,
  ) {
    this.context = { store, clock, random, options, onLoadFailed: events.onLoadFailed, closing: this.closing.signal };
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
    const queue = tags.values();
    let begun = 0;
    const worker = async (): Promise<void> => {
      for (const tag of queue) {
        if (this.closed !== undefined || this.clock.monotonic() >= deadline) return;
        const buffer = this.buffers.get(tag);
        if (buffer === undefined) continue;
        begun++;
        await buffer.preload();
      }
    };
    await Promise.all(Array.from({ length: PRELOAD_WIDTH }, worker));
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
    if (buffer === undefined) throw this.notFound(tag);
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
    await buffer?.retire(() => this.notFound(tag));
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
    const now = this.clock.monotonic();
    if ((this.notFoundUntil.get(tag) ?? -Infinity) > now) throw this.notFound(tag);
    const found = await this.ask(tag);
    this.assertServed(tag);
    if (found) return this.admit(tag);
    this.notFoundUntil.delete(tag);
    this.notFoundUntil.set(tag, this.clock.monotonic() + NOT_FOUND_MS);
    if (this.notFoundUntil.size > NOT_FOUND_KEPT) {
      for (const oldest of this.notFoundUntil.keys()) {
        this.notFoundUntil.delete(oldest);
        break;
      }
    }
    throw this.notFound(tag);
  }

  private async ask(tag: string): Promise<boolean> {
    const answer = this.store.hasTag(tag);
    const { waitMs } = this.context.options;
    if (await settledBefore(answer, this.clock.monotonic() + waitMs, this.clock)) return answer;
    throw segmentUnavailable(tag, waitMs, undefined);
  }

  private async shut(): Promise<void> {
    this.closing.abort();
    const stopping = new LeafError('LEAF_NOT_READY', 'This server is stopping: ask another one.', {
      retryAfterMs: 1000,
    });
    const rests = this.allBuffers().map((buffer) => ({
      tag: buffer.tag,
      rest: buffer.retire(() => stopping),
    }));
    this.buffers.clear();
    this.paused.clear();
    await this.refresh.stop();
    const queue = rests.values();
    const worker = async (): Promise<void> => {
      for (const { tag, rest } of queue) await this.giveBack(tag, await rest);
    };
    await Promise.all(Array.from({ length: CLOSE_WIDTH }, worker));
  }

  /** Newest range first: each one moves the row down to where the next one ends. */
  private async giveBack(tag: string, rest: readonly IdRange[]): Promise<void> {
    for (const range of rest) {
      if (!(await this.store.giveBack(tag, range))) return;
    }
  }

  private assertServed(tag: string): void {
    if (this.closed !== undefined) {
      throw new LeafError('LEAF_NOT_READY', 'This server is stopping: ask another one.', { retryAfterMs: 1000 });
    }
    if (this.paused.has(tag)) {
      throw new LeafError(
        'LEAF_TAG_PAUSED',
        `Tag "${tag}" is paused on this server: ask another one, or wait until it is resumed.`,
        { retryAfterMs: PAUSED_RETRY_MS },
      );
    }
  }

  private allBuffers(): DoubleBuffer[] {
    return [...this.buffers.values(), ...this.paused.values()];
  }

  private notFound(tag: string): LeafError {
    return new LeafError(
      'LEAF_TAG_NOT_FOUND',
      `There is no tag "${tag}". Create its row in leaf_alloc first; it is found within a second.`,
    );
  }
}
