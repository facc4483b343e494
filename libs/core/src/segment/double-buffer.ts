import { withinDeadline } from '../deadline';
import { LeafError } from '../errors/leaf-error';
import { retry } from '../retry';
import type { BufferContext } from './buffer-context';
import type { IdRange } from './id-range';
import { loadFor, type PendingTake } from './pending-take';
import { RangeSource } from './range-source';
import { SegmentQueue } from './segment-queue';
import type { DoubleBufferSnapshot } from './segment-snapshot';
import type { TagSource } from './tag-source';
import { segmentUnavailable, tooManyWaiting } from './unavailable';
import { WaitQueue } from './wait-queue';

const BACKOFF = { firstMs: 50, maxMs: 1000 };
/** A refusal that no retry mends (a deleted row) is answered from memory this long before the store is asked again. */
const REFUSAL_MS = 1000;

/**
 * The double buffer of one tag (Meituan's Leaf): IDs come from `current`; once its prefetch share is used, one load in
 * the background fetches the next segment; a switch costs nothing.
 *
 * - *serving*: `current` has IDs; a load may be under way, failing and retrying without callers noticing.
 * - *waiting*: both are used up; callers wait for the one allocation under way, up to the wait limit.
 * - *retired*: for good; every call is refused.
 *
 * At most one allocation of a tag is under way at any time, and a range is used only if it lies above all that came
 * before it: that keeps the tag's IDs ascending.
 */
export class DoubleBuffer implements TagSource {
  readonly order = 'relaxed';
  private readonly queue = new SegmentQueue();
  /** While `current.left` is above this, an ID needs no further look. */
  private checkpoint = 0;
  private allocating = false;
  /** Woken when the allocation under way is done. */
  private waiting: WaitQueue | undefined;
  private refusal: LeafError | undefined;
  private refusedUntil = 0;
  private retired: (() => LeafError) | undefined;
  private readonly source: RangeSource;

  /** @param highest the highest ID that is known to be taken of the tag: all others are above it */
  constructor(
    readonly tag: string,
    private readonly context: BufferContext,
    highest?: bigint,
  ) {
    this.source = new RangeSource(tag, context, highest);
  }

  /** The next ID, or undefined when none is buffered; then an allocation is under way or was refused. */
  tryNext(): bigint | undefined {
    const { current } = this.queue;
    if (current.left > this.checkpoint) return current.take();
    return this.tryNextSlowly();
  }

  /**
   * The next ID, waiting for a load if none is buffered.
   *
   * @throws LeafError `LEAF_SEGMENT_UNAVAILABLE` past the wait limit, `LEAF_OVERLOADED` when it gave way to newer calls,
   *   or what the store refused
   */
  async take(): Promise<bigint> {
    const deadline = this.deadline();
    for (;;) {
      const id = this.tryNext();
      if (id !== undefined) return id;
      await this.allocation(deadline);
    }
  }

  /**
   * The next `count` IDs as ascending ranges. When fewer are buffered, `count` more are loaded, and the lowest ones are taken when it is done: meanwhile other calls use the buffer, and afterwards it holds as many IDs as
   * before.
   *
   * @throws LeafError as {@link take}
   */
  async takeRanges(count: number): Promise<IdRange[]> {
    const deadline = this.deadline();
    while (this.buffered < count && this.allocating) await this.allocation(deadline);
    this.assertOpen();
    return this.tryRanges(count) ?? this.loadAndTake(count, deadline);
  }

  /** The next `count` IDs as ascending ranges, or undefined when fewer are buffered. */
  tryRanges(count: number): IdRange[] | undefined {
    if (this.retired !== undefined || this.buffered < count) return undefined;
    const ranges = this.drain(count);
    if (this.queue.current.left <= this.checkpoint) this.prefetch();
    return ranges;
  }

  /** Fetches the first segment ahead of the first call. Resolves when it is there, or cannot be had for now. */
  async preload(): Promise<void> {
    if (this.buffered > 0) return;
    this.prefetch();
    if (this.allocating) await this.line.wait(this.deadline());
  }

  /**
   * Ends the buffer: calls from now on, waiting ones included, are refused with `reason`, which is made when it is needed.
   *
   * @returns what was not issued, newest range first
   */
  async retire(reason: () => LeafError): Promise<IdRange[]> {
    this.retired = reason;
    const rest = this.clear();
    while (this.allocating) await this.line.watch();
    return [...this.clear(), ...rest];
  }

  /** IDs handed out so far. */
  get issued(): number {
    return this.queue.issued;
  }

  /** The highest ID that is known to be taken of the tag; 0 before the first. */
  get highest(): bigint {
    return this.source.highest;
  }

  /** IDs at hand without asking the store. */
  get buffered(): number {
    return this.queue.buffered;
  }

  /** Another number when a snapshot would be another one; never a number that was there before. */
  get revision(): number {
    return 2 * (this.queue.moves + this.source.tries) + (this.allocating ? 1 : 0);
  }

  /** Size of the newest load; 0 before the first. */
  get step(): number {
    return this.source.size;
  }

  snapshot(): DoubleBufferSnapshot {
    const { tag, order, allocating: loading } = this;
    return { tag, order, loading, ...this.queue.snapshot(), ...this.source.snapshot() };
  }

  private tryNextSlowly(): bigint | undefined {
    if (this.retired !== undefined) return undefined;
    if (this.queue.current.left === 0 && !this.advance()) {
      this.prefetch();
      return undefined;
    }
    if (this.queue.current.left <= this.checkpoint) this.prefetch();
    return this.queue.current.take();
  }

  private advance(): boolean {
    if (!this.queue.advance()) return false;
    this.setCheckpoint();
    return true;
  }

  private setCheckpoint(): void {
    this.checkpoint = Math.ceil(this.queue.current.size * (1 - this.context.options.prefetchRatio));
  }

  /** Starts the one load, unless it is not wanted or not possible now. */
  private prefetch(): void {
    if (this.queue.following.length > 0 || this.allocating || this.retired !== undefined) return;
    if (this.context.clock.monotonic() < this.refusedUntil) return;
    if (this.source.failure !== undefined && !this.context.idleRetries.admits(this)) return;
    this.startLoad();
  }

  private startLoad(): void {
    this.checkpoint = 0;
    this.begin(this.load());
  }

  /** Makes `work` the allocation under way. */
  private begin(work: Promise<unknown>): void {
    const done = (): void => {
      this.allocating = false;
      this.wake();
    };
    this.allocating = true;
    work.then(done, done);
  }

  private async load(): Promise<void> {
    const { closing, idleRetries } = this.context;
    const isWanted = (): boolean => this.waiting?.occupied === true || idleRetries.admits(this);
    try {
      this.queue.append(await this.retrying(() => this.source.load(), isWanted));
      this.refusal = undefined;
    } catch (error) {
      const isGivenUp = error instanceof LeafError && error.retryable && !closing.aborted;
      this.refuse(isGivenUp ? undefined : error instanceof LeafError ? error : this.unavailable());
      // Every ID from now on looks whether a load may be tried again.
      this.checkpoint = this.queue.current.size;
    } finally {
      idleRetries.end(this);
    }
  }

  /** @param error undefined when a call that waits may start another load at once */
  private refuse(error: LeafError | undefined): void {
    this.refusal = error;
    this.refusedUntil = this.context.clock.monotonic() + REFUSAL_MS;
  }

  /** Loads `count` IDs behind what is buffered, then takes the first `count`. Only while no allocation is under way. */
  private async loadAndTake(count: number, deadline: number): Promise<IdRange[]> {
    this.assertNotRefused();
    const pending: PendingTake = { count, loaded: [], abandoned: false, done: false };
    const work = this.complete(pending);
    this.begin(work);
    if ((await withinDeadline(work, deadline, this.context.clock)) || pending.done) {
      const ranges = await work;
      this.prefetch();
      return ranges;
    }
    pending.abandoned = true;
    throw this.retired?.() ?? this.unavailable();
  }

  /** Takes the IDs before the allocation counts as done: no other call can come in between. */
  private async complete(pending: PendingTake): Promise<IdRange[]> {
    const { count, loaded } = pending;
    const isWanted = (): boolean => !pending.abandoned;
    try {
      await loadFor(pending, (size) => this.retrying(() => this.source.allocate(size), isWanted));
      this.queue.appendAll(loaded);
      this.assertOpen();
      return pending.abandoned ? [] : this.drain(count);
    } catch (error) {
      this.queue.appendAll(loaded);
      this.assertOpen();
      if (!(error instanceof LeafError) || error.retryable) throw this.unavailable();
      if (error.code !== 'LEAF_TAG_EXHAUSTED') this.refuse(error);
      throw error;
    } finally {
      pending.done = true;
    }
  }

  private retrying<T>(action: () => Promise<T>, isWanted: () => boolean): Promise<T> {
    const { clock, random, closing } = this.context;
    const isRetryable = (error: unknown): boolean =>
      this.retired === undefined && error instanceof LeafError && error.retryable && isWanted();
    return retry(action, { ...BACKOFF, attempts: Infinity, isRetryable, signal: closing }, clock, random);
  }

  /** Waits for the allocation under way; throws when there can be none, past the deadline, or to give way. */
  private async allocation(deadline: number): Promise<void> {
    this.assertOpen();
    if (!this.allocating) {
      this.assertNotRefused();
      this.startLoad();
    }
    const end = await this.line.wait(deadline);
    if (end === 'late') throw this.unavailable();
    if (end === 'evicted') throw tooManyWaiting(this.tag);
    this.assertOpen();
  }

  private assertNotRefused(): void {
    if (this.refusal !== undefined && this.context.clock.monotonic() < this.refusedUntil) throw this.refusal;
  }

  private get line(): WaitQueue {
    this.waiting ??= new WaitQueue(this.context.clock, this.context.options.waitMs);
    return this.waiting;
  }

  private wake(): void {
    this.waiting?.wake();
    if (this.waiting?.idle === true) this.waiting = undefined;
  }

  private assertOpen(): void {
    if (this.retired !== undefined) throw this.retired();
  }

  private drain(count: number): IdRange[] {
    const { current } = this.queue;
    const ranges = this.queue.drain(count);
    if (this.queue.current !== current) this.setCheckpoint();
    return ranges;
  }

  private clear(): IdRange[] {
    this.checkpoint = 0;
    return this.queue.clear();
  }

  private deadline(): number {
    return this.context.clock.monotonic() + this.context.options.waitMs;
  }

  private unavailable(): LeafError {
    return segmentUnavailable(this.tag, this.context.options.waitMs, this.source.failure);
  }
}
