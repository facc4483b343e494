import { withinDeadline } from '../../util/deadline';
import { isLeafError, LeafError } from '../../errors/leaf-error';
import { AllocatingSource } from './allocating-source';
import type { IdRange } from '../tags/id-range';
import { loadFor, type PendingTake } from './pending-take';
import { SegmentQueue } from './segment-queue';
import type { TagSource, DoubleBufferSnapshot } from '../allocation/tag-source';
import { notConsecutive, tooManyBlocks } from '../tags/tag-refusals';

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
export class DoubleBuffer extends AllocatingSource implements TagSource {
  readonly order = 'relaxed';
  listed = 0;
  private readonly queue = new SegmentQueue();
  /** While `current.left` is above this, the fast path issues IDs without further checks. */
  private checkpoint = 0;

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
    for (let woken = 0; ; woken = 1) {
      const id = this.tryNext();
      this.resuming -= woken;
      if (id !== undefined) return id;
      await this.allocation(deadline, 1);
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
    let hasWaited = false;
    while (!this.queue.has(count, consecutive) && this.allocating) {
      await this.allocation(deadline, count);
      this.resuming -= count;
      hasWaited = true;
    }
    this.assertOpen();
    return this.tryRanges(count, consecutive) ?? this.loadAndTake(count, consecutive, deadline, hasWaited);
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
    if (this.allocating) await this.line.wait(this.deadline(), 0);
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
    if (this.queue.hasNext || this.allocating || this.retired !== undefined) return;
    if (this.refusal.isRecent) return;
    if (this.source.failure !== undefined && !this.context.idleRetries.admits(this)) return;
    this.startLoad();
  }

  protected startLoad(): void {
    this.checkpoint = 0;
    this.context.used.add(this);
    this.begin(this.load());
  }

  private async load(): Promise<void> {
    const { closing, idleRetries } = this.context;
    const isWanted = (): boolean => this.isAwaited || idleRetries.admits(this);
    try {
      // Without buffered IDs, calls of the same turn wait for this load: it covers them.
      if (this.buffered === 0) await Promise.resolve();
      this.assertOpen();
      this.queue.append(await this.retrying(() => this.source.load(this.wanted(0)), isWanted));
      this.refusal.forget();
    } catch (error) {
      const isGivenUp = error instanceof LeafError && error.retryable && !closing.aborted;
      this.refusal.keep(isGivenUp ? undefined : error instanceof LeafError ? error : this.unavailable());
      // From now on, each issued ID checks whether the load may be retried.
      this.checkpoint = this.queue.current.size;
    } finally {
      idleRetries.end(this);
    }
  }

  /** Loads `count` IDs behind the buffered ones, then takes the first `count`. No allocation may be in progress. */
  private async loadAndTake(
    count: number,
    consecutive: boolean,
    deadline: number,
    hasWaited: boolean,
  ): Promise<IdRange[]> {
    this.refusal.assertNone();
    if (this.source.exceedsBlocks(count)) throw tooManyBlocks(this.tag, count);
    const pending: PendingTake = { count, consecutive, loaded: [], abandoned: false, done: false };
    this.context.used.add(this);
    const work = this.complete(pending, hasWaited);
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
  private async complete(pending: PendingTake, hasWaited: boolean): Promise<IdRange[]> {
    const { count, consecutive, loaded } = pending;
    const isWanted = (): boolean => !pending.abandoned;
    try {
      // Calls of the same turn wait for this allocation: it covers them. Many large calls in a row yield in between, also
      // if the store never does.
      await (hasWaited ? this.context.clock.sleep(0) : Promise.resolve());
      this.assertOpen();
      const allocate = (size: number): Promise<IdRange[]> => this.retrying(() => this.allocateFor(size), isWanted);
      if (!(await loadFor(pending, allocate, this.context.clock))) throw tooManyBlocks(this.tag, count);
      if (!this.queue.appendAll(loaded, count, consecutive)) throw notConsecutive(this.tag, count);
      this.assertOpen();
      return pending.abandoned ? [] : this.drain(count, consecutive);
    } catch (error) {
      this.queue.appendAll(loaded, count, consecutive);
      this.assertOpen();
      if (!(error instanceof LeafError) || error.retryable) throw this.unavailable();
      if (error.code !== 'LEAF_TAG_EXHAUSTED' && error.code !== 'LEAF_SIZE_INVALID') this.refusal.keep(error);
      throw error;
    } finally {
      pending.done = true;
    }
  }

  /** Allocates `size` IDs, and those that other calls wait for if the tag has so many left. */
  private async allocateFor(size: number): Promise<IdRange[]> {
    const wanted = this.wanted(size);
    try {
      return await this.source.allocate(wanted);
    } catch (error) {
      if (wanted === size || !isLeafError(error, 'LEAF_TAG_EXHAUSTED')) throw error;
      return this.source.allocate(size);
    }
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
}
