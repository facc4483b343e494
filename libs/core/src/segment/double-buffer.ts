import { settledBefore } from '../deadline';
import { LeafError } from '../errors/leaf-error';
import { retry } from '../retry';
import type { BufferContext } from './buffer-context';
import type { ExactOrder } from './exact-order';
import type { IdRange } from './id-range';
import { RangeSource } from './range-source';
import { SegmentStock } from './segment-stock';
import { view, type DoubleBufferSnapshot } from './segment-view';
import { segmentUnavailable, tooManyWaiting } from './unavailable';
import { WaitingLine } from './waiting-line';

const BACKOFF = { firstMs: 50, maxMs: 1000 };
/** A refusal that no retry mends (a deleted row) is answered from memory this long before the store is asked again. */
const REFUSAL_MS = 1000;

/**
 * The double buffer of one tag (Meituan's Leaf): IDs come from `current`; once its prefetch share is used, one load in
 * the background fetches the next segment; a switch costs nothing.
 *
 * - *serving*: `current` has IDs; a load may be under way, failing and retrying without anybody noticing.
 * - *waiting*: both are used up; callers wait for the one allocation under way, up to the wait limit.
 * - *retired*: for good; every call is refused.
 *
 * At most one allocation of a tag is under way at any time, and a range is used only if it lies above all that came
 * before it: that keeps the tag's IDs ascending.
 */
export class DoubleBuffer {
  private readonly stock = new SegmentStock();
  /** While `current.left` is above this, an ID needs no further look. */
  private checkpoint = 0;
  private allocating = false;
  /** Woken when the allocation under way is done, or IDs came back. */
  private waiting: WaitingLine | undefined;
  private refusal: LeafError | undefined;
  private refusedUntil = 0;
  private retired: (() => LeafError) | undefined;
  private readonly source: RangeSource;

  constructor(
    readonly tag: string,
    private readonly context: BufferContext,
  ) {
    this.source = new RangeSource(tag, context);
  }

  /** The next ID, or undefined when none is buffered; then an allocation is under way or was refused. */
  tryNext(): bigint | undefined {
    const { current } = this.stock;
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
   * The next `count` IDs as ascending ranges: first what is buffered, then one allocation of exactly what is missing.
   * When that allocation fails, what was buffered still is.
   *
   * @throws LeafError as {@link take}
   */
  async takeRanges(count: number): Promise<IdRange[]> {
    const deadline = this.deadline();
    while (this.buffered < count && this.allocating) await this.allocation(deadline);
    this.assertOpen();
    return this.tryRanges(count) ?? this.takeWithExact(count, deadline);
  }

  /** The next `count` IDs as ascending ranges, or undefined when fewer are buffered. */
  tryRanges(count: number): IdRange[] | undefined {
    if (this.retired !== undefined || this.buffered < count) return undefined;
    const ranges = this.drain(count);
    if (this.stock.current.left <= this.checkpoint) this.prefetch();
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
    const rest = this.unload();
    while (this.allocating) await this.line.watch();
    return [...this.unload(), ...rest];
  }

  /** IDs handed out so far. */
  get issued(): number {
    return this.stock.issued;
  }

  /** IDs at hand without asking the store. */
  get buffered(): number {
    return this.stock.buffered;
  }

  /** Another number when a snapshot would be another one; never a number that was there before. */
  get revision(): number {
    return 2 * (this.stock.moves + this.source.tries) + (this.allocating ? 1 : 0);
  }

  /** Size of the newest load; 0 before the first. */
  get step(): number {
    return this.source.size;
  }

  snapshot(): DoubleBufferSnapshot {
    const { issued, buffered, loaded, queue } = this.stock;
    return {
      tag: this.tag,
      issued,
      buffered,
      current: loaded && view(loaded),
      next: queue[0] && view(queue[0]),
      spare: queue.slice(1).map(view),
      loading: this.allocating,
      ...this.source.snapshot(),
    };
  }

  private tryNextSlowly(): bigint | undefined {
    if (this.retired !== undefined) return undefined;
    if (this.stock.current.left === 0 && !this.advance()) {
      this.prefetch();
      return undefined;
    }
    if (this.stock.current.left <= this.checkpoint) this.prefetch();
    return this.stock.current.take();
  }

  private advance(): boolean {
    if (!this.stock.advance()) return false;
    this.setCheckpoint();
    return true;
  }

  private setCheckpoint(): void {
    this.checkpoint = Math.ceil(this.stock.current.size * (1 - this.context.options.prefetchRatio));
  }

  /** Starts the one load, unless it is not wanted or not possible now. */
  private prefetch(): void {
    if (this.stock.queue.length > 0 || this.allocating || this.retired !== undefined) return;
    if (this.context.clock.monotonic() < this.refusedUntil) return;
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
    try {
      this.stock.receive(await this.retrying(() => this.source.load(), this.context.closing));
      this.refusal = undefined;
    } catch (error) {
      this.refuse(error instanceof LeafError ? error : this.unavailable());
      // Every ID from now on looks whether a load may be tried again.
      this.checkpoint = this.stock.current.size;
    }
  }

  private refuse(error: LeafError): void {
    this.refusal = error;
    this.refusedUntil = this.context.clock.monotonic() + REFUSAL_MS;
  }

  /** All that is buffered and one allocation of what `count` needs besides. Only while no other is under way. */
  private async takeWithExact(count: number, deadline: number): Promise<IdRange[]> {
    if (this.refusal !== undefined && this.context.clock.monotonic() < this.refusedUntil) throw this.refusal;
    const missing = count - this.buffered;
    const order: ExactOrder = { pieces: this.stock.lend(), stop: new AbortController(), abandoned: false, done: false };
    const work = this.complete(order, missing);
    this.begin(work);
    if ((await settledBefore(work, deadline, this.context.clock)) || order.done) {
      const ranges = await work;
      this.prefetch();
      return ranges;
    }
    order.abandoned = true;
    order.stop.abort(null);
    this.restore(order.pieces);
    this.wake();
    throw this.retired?.() ?? this.unavailable();
  }

  /**
   * What goes wrong is put right in here, before the allocation counts as done: nobody may start the next one while the
   * drained pieces, which are lower, are still on their way back.
   */
  private async complete(order: ExactOrder, missing: number): Promise<IdRange[]> {
    const { pieces, stop } = order;
    const close = (): void => stop.abort(null);
    this.context.closing.addEventListener('abort', close);
    try {
      const exact = await this.retrying(() => this.source.allocate(missing), stop.signal);
      if (order.abandoned) this.stock.receive(exact);
      else this.stock.settle(missing);
      return [...pieces, exact];
    } catch (error) {
      if (!order.abandoned) this.restore(pieces);
      if (this.retired !== undefined) throw this.retired();
      if (!(error instanceof LeafError) || error.retryable) throw this.unavailable();
      if (error.code !== 'LEAF_TAG_EXHAUSTED') this.refuse(error);
      throw error;
    } finally {
      this.context.closing.removeEventListener('abort', close);
      order.done = true;
    }
  }

  private retrying<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, random } = this.context;
    const isRetryable = (error: unknown): boolean =>
      this.retired === undefined && error instanceof LeafError && error.retryable;
    return retry(action, { ...BACKOFF, attempts: Infinity, isRetryable, signal }, clock, random);
  }

  /** Waits for the allocation under way; throws when there can be none, past the deadline, or to give way. */
  private async allocation(deadline: number): Promise<void> {
    this.assertOpen();
    if (!this.allocating) {
      if (this.refusal !== undefined) throw this.refusal;
    } else {
      const end = await this.line.wait(deadline);
      if (end === 'late') throw this.unavailable();
      if (end === 'displaced') throw tooManyWaiting(this.tag);
    }
    this.assertOpen();
  }

  private get line(): WaitingLine {
    this.waiting ??= new WaitingLine(this.context.clock, this.context.options.waitMs);
    return this.waiting;
  }

  private wake(): void {
    this.waiting?.wake();
    if (this.waiting?.calm === true) this.waiting = undefined;
  }

  private assertOpen(): void {
    if (this.retired !== undefined) throw this.retired();
  }

  private drain(count: number): IdRange[] {
    const { current } = this.stock;
    const ranges = this.stock.drain(count);
    if (this.stock.current !== current) this.setCheckpoint();
    return ranges;
  }

  /** Every ID from now on looks whether a load is wanted. */
  private restore(pieces: readonly IdRange[]): void {
    this.stock.restore(pieces);
    if (pieces.length > 0) this.checkpoint = this.stock.current.size;
  }

  private unload(): IdRange[] {
    this.checkpoint = 0;
    return this.stock.unload();
  }

  private deadline(): number {
    return this.context.clock.monotonic() + this.context.options.waitMs;
  }

  private unavailable(): LeafError {
    return segmentUnavailable(this.tag, this.context.options.waitMs, this.source.failure);
  }
}
