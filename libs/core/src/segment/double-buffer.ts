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
import { notConsecutive, segmentUnavailable, tooManyWaiting } from './unavailable';
import { WaitQueue } from './wait-queue';

const BACKOFF = { firstMs: 50, maxMs: 1000 };
/** How long a non-retryable error of the store, such as a deleted row, is cached, in milliseconds. */
const REFUSAL_MS = 1000;

/**
 * The double buffer of one tag (Meituan's Leaf). IDs come from the `current` segment. When its prefetch share is used,
 * a background load fetches the next segment. Switching segments needs no I/O.
 *
 * - *serving*: `current` has IDs. A load may be in progress or retrying; callers are not affected.
 * - *waiting*: both segments are used up. Callers wait for the allocation in progress, up to the wait limit.
 * - *retired*: final; every call is refused.
 *
 * A tag has at most one allocation in progress, and a range is used only if it is above all earlier ranges. Therefore
 * the tag's IDs ascend.
 */
export class DoubleBuffer implements TagSource {
  readonly order = 'relaxed';
  listed = 0;
  private readonly queue = new SegmentQueue();
  /** While `current.left` is above this, the fast path issues IDs without further checks. */
  private checkpoint = 0;
  private allocating = false;
  /** Calls that wait for the allocation in progress. */
  private waiting: WaitQueue | undefined = undefined;
  private refusal: LeafError | undefined = undefined;
  private refusedUntil = 0;
  private retired: (() => LeafError) | undefined = undefined;
  private readonly source: RangeSource;

  /** @param highest the highest ID of the tag known to be taken; all issued IDs are above it */
  constructor(
    tag: string,
    private readonly context: BufferContext,
    highest?: bigint,
  ) {
    this.source = new RangeSource(tag, context, highest);
  }

  get tag(): string {
    return this.source.tag;
  }

  /** The next ID, or undefined when none is buffered. In that case an allocation is in progress or was refused. */
  tryNext(): bigint | undefined {
    return this.queue.current.left > this.checkpoint || this.prepare() ? this.queue.current.take() : undefined;
  }

  tryNextNumber(): number | undefined {
    return this.queue.current.left > this.checkpoint || this.prepare() ? this.queue.current.takeNumber() : undefined;
  }

  /**
   * The next ID; waits for a load if none is buffered.
   *
   * @throws LeafError `LEAF_SEGMENT_UNAVAILABLE` past the wait limit, `LEAF_OVERLOADED` when evicted, or the error of
   *   the store
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
   * The next `count` IDs as ascending ranges. If fewer are buffered, loads `count` more and then takes the lowest ones.
   * Other calls use the buffer meanwhile, and its fill level stays the same.
   *
   * @throws LeafError as {@link take}
   */
  async takeRanges(count: number, consecutive = false): Promise<IdRange[]> {
    const deadline = this.deadline();
    while (!this.queue.has(count, consecutive) && this.allocating) await this.allocation(deadline);
    this.assertOpen();
    return this.tryRanges(count, consecutive) ?? this.loadAndTake(count, consecutive, deadline);
  }

  tryRanges(count: number, consecutive = false): IdRange[] | undefined {
    if (this.retired !== undefined || !this.queue.has(count, consecutive)) return undefined;
    const ranges = this.drain(count, consecutive);
    if (this.queue.current.left <= this.checkpoint) this.prefetch();
    return ranges;
  }

  /** Loads the first segment before the first call. Resolves when it is loaded or the load is given up. */
  async preload(): Promise<void> {
    if (this.buffered > 0) return;
    this.prefetch();
    if (this.allocating) await this.line.wait(this.deadline());
  }

  /**
   * Ends the buffer: later and waiting calls are refused with the error that `reason` creates.
   *
   * @returns the unissued ranges, newest first
   */
  async retire(reason: () => LeafError): Promise<IdRange[]> {
    this.retired = reason;
    const rest = this.clear();
    while (this.allocating) await this.line.watch();
    return [...this.clear(), ...rest];
  }

  get issued(): number {
    return this.queue.issued;
  }

  get highest(): bigint {
    return this.source.highest;
  }

  get buffered(): number {
    return this.queue.buffered;
  }

  get revision(): number {
    return 2 * (this.queue.moves + this.source.tries) + (this.allocating ? 1 : 0);
  }

  get step(): number {
    return this.source.size;
  }

  snapshot(): DoubleBufferSnapshot {
    const { tag, order, allocating: loading } = this;
    return { tag, order, loading, ...this.queue.snapshot(), ...this.source.snapshot() };
  }

  /** Switches segments and starts the load that is due; returns false if no ID may be issued. */
  private prepare(): boolean {
    if (this.retired !== undefined) return false;
    const isEmpty = this.queue.current.left === 0;
    const canIssue = !isEmpty || this.queue.advance();
    if (isEmpty && canIssue) this.setCheckpoint();
    if (!canIssue || this.queue.current.left <= this.checkpoint) this.prefetch();
    return canIssue;
  }

  private setCheckpoint(): void {
    this.checkpoint = Math.ceil(this.queue.current.size * (1 - this.context.options.prefetchRatio));
  }

  /** Starts the background load, unless it is not needed or not allowed now. */
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

  /** Marks `work` as the allocation in progress. */
  private begin(work: Promise<unknown>): void {
    const done = (): void => {
      this.allocating = false;
      this.wake();
    };
    this.allocating = true;
    this.context.used.add(this);
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
      // From now on, each issued ID checks whether the load may be retried.
      this.checkpoint = this.queue.current.size;
    } finally {
      idleRetries.end(this);
    }
  }

  /** @param error undefined if a waiting call may start another load immediately */
  private refuse(error: LeafError | undefined): void {
    this.refusal = error;
    this.refusedUntil = this.context.clock.monotonic() + REFUSAL_MS;
  }

  /** Loads `count` IDs behind the buffered ones, then takes the first `count`. No allocation may be in progress. */
  private async loadAndTake(count: number, consecutive: boolean, deadline: number): Promise<IdRange[]> {
    this.assertNotRefused();
    const pending: PendingTake = { count, consecutive, loaded: [], abandoned: false, done: false };
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

  /** Takes the IDs before the allocation ends, so that no other call can take them. */
  private async complete(pending: PendingTake): Promise<IdRange[]> {
    const { count, consecutive, loaded } = pending;
    const isWanted = (): boolean => !pending.abandoned;
    try {
      await loadFor(pending, (size) => this.retrying(() => this.source.allocate(size), isWanted));
      if (!this.queue.appendAll(loaded, count, consecutive)) throw notConsecutive(this.tag, count);
      this.assertOpen();
      return pending.abandoned ? [] : this.drain(count, consecutive);
    } catch (error) {
      this.queue.appendAll(loaded, count, consecutive);
      this.assertOpen();
      if (!(error instanceof LeafError) || error.retryable) throw this.unavailable();
      if (error.code !== 'LEAF_TAG_EXHAUSTED' && error.code !== 'LEAF_SIZE_INVALID') this.refuse(error);
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

  /** Waits for the current allocation, or starts one. Throws past the deadline, or if evicted or refused. */
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

  private drain(count: number, consecutive: boolean): IdRange[] {
    const { current } = this.queue;
    if (consecutive) this.queue.skipToRun(count);
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
