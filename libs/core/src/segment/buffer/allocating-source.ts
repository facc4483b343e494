import { LeafError } from '../../errors/leaf-error';
import { retry, RecentRefusal } from '../../util/retry';
import type { BufferContext } from '../allocation/buffer-context';
import { RangeSource } from '../allocation/range-source';
import { MAX_RANGE_SIZE } from '../tags/id-range';
import { segmentUnavailable, tooManyWaiting } from '../tags/tag-refusals';
import { WaitQueue } from '../allocation/wait-queue';

/** Back-off between the retries of a call to the store. */
export const BACKOFF = { firstMs: 50, maxMs: 1000 };

/** The allocation in progress of one tag, at most one, and the calls that wait for it. */
export abstract class AllocatingSource {
  protected allocating = false;
  protected retired: (() => LeafError) | undefined = undefined;
  protected readonly source: RangeSource;
  protected readonly refusal: RecentRefusal;
  /** Number of IDs for calls that were woken and have not run yet. */
  protected resuming = 0;
  /** Calls that wait for the allocation in progress. */
  private waiting: WaitQueue | undefined = undefined;

  /** @param highest the highest ID of the tag known to be taken; all issued IDs are above it */
  constructor(
    tag: string,
    protected readonly context: BufferContext,
    highest?: bigint,
  ) {
    this.source = new RangeSource(tag, context, highest);
    this.refusal = new RecentRefusal(context.clock);
  }

  get tag(): string {
    return this.source.tag;
  }

  /** Number of buffered IDs. */
  abstract get buffered(): number;

  protected abstract startLoad(): void;

  /** Marks `work` as the allocation in progress. */
  protected begin(work: Promise<unknown>): void {
    const done = (): void => {
      this.allocating = false;
      this.wake();
    };
    this.allocating = true;
    work.then(done, done);
  }

  /** Whether a call waits. */
  protected get isAwaited(): boolean {
    return this.waiting?.occupied === true;
  }

  /** Waits for the current allocation, or starts one. Throws past the deadline, or if evicted or refused. */
  protected async allocation(deadline: number, count: number): Promise<void> {
    this.assertOpen();
    if (!this.allocating) {
      this.refusal.assertNone();
      this.startLoad();
    }
    const end = await this.line.wait(deadline, count);
    if (end === 'late') throw this.unavailable();
    if (end === 'evicted') throw tooManyWaiting(this.tag);
    this.assertOpen();
  }

  /** `size`, and what calls wait for beyond the buffered IDs, as far as one allocation may be so large. */
  protected wanted(size: number): number {
    const missing = Math.max(0, (this.waiting?.ids ?? 0) + this.resuming - this.buffered);
    return Math.max(size, Math.min(size + missing, MAX_RANGE_SIZE));
  }

  protected retrying<T>(action: () => Promise<T>, isWanted: () => boolean): Promise<T> {
    const { clock, random, closing, used } = this.context;
    const noted = async (): Promise<T> => {
      try {
        const result = await action();
        used.note(this, undefined, clock.monotonic());
        return result;
      } catch (error) {
        used.note(this, error, clock.monotonic());
        throw error;
      }
    };
    const isRetryable = (error: unknown): boolean =>
      this.retired === undefined && error instanceof LeafError && error.retryable && isWanted();
    return retry(noted, { ...BACKOFF, attempts: Infinity, isRetryable, signal: closing }, clock, random);
  }

  protected assertOpen(): void {
    if (this.retired !== undefined) throw this.retired();
  }

  protected get line(): WaitQueue {
    this.waiting ??= new WaitQueue(this.context.clock, this.context.options.waitMs);
    return this.waiting;
  }

  protected deadline(): number {
    return this.context.clock.monotonic() + this.context.options.waitMs;
  }

  protected unavailable(): LeafError {
    return segmentUnavailable(this.tag, this.context.options.waitMs, this.source.failure);
  }

  private wake(): void {
    this.resuming += this.waiting?.wake() ?? 0;
    if (this.waiting?.idle === true) this.waiting = undefined;
  }
}
