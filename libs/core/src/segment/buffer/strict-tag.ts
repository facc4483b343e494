import { LeafError } from '../../errors/leaf-error';
import { backoffMs, RecentRefusal } from '../../util/retry';
import type { BufferContext } from '../allocation/buffer-context';
import { BACKOFF } from './allocating-source';
import { CallerQueue } from './caller-queue';
import { type IdRange, MAX_RANGE_SIZE, sizeOf } from '../tags/id-range';
import { RangeSource } from '../allocation/range-source';
import type { Allocation, AllocationRequest, SegmentStore } from '../tags/segment-store';
import { replacedTag, strictUnavailable, tooManyWaiting } from '../tags/tag-refusals';
import type { TagSource, DoubleBufferSnapshot } from '../allocation/tag-source';
import { MAX_WAITING } from '../allocation/wait-queue';

/** The interface of a strict tag to its {@link StrictLine}. */
interface LinedTag {
  /** Whether its newest allocation failed. */
  readonly failing: boolean;

  /** Creates a request for the IDs of all waiting callers; undefined if none is waiting. */
  begin(): AllocationRequest | undefined;

  /**
   * Processes the result of the request of {@link begin}, sent at `sentAt` in monotonic milliseconds. Never rejects.
   */
  end(sentAt: number, answer: Promise<Allocation>): Promise<void>;
}

/** Maximum number of tags per statement, so that the statement ends in time. */
const WIDTH = 50;

/**
 * Batches the allocations of the strict tags of one database. One statement is in flight at a time; when it completes,
 * the next one serves all tags that have waiting callers. A tag whose allocation failed is sent separately until it
 * succeeds, so that a locked row does not delay other tags.
 */
export class StrictLine {
  private readonly ready = new Set<LinedTag>();
  private running = false;

  constructor(
    private readonly store: Pick<SegmentStore, 'allocateAll'>,
    private readonly now: () => number,
  ) {}

  /** Queues a tag that has waiting callers and no allocation in flight. */
  enter(tag: LinedTag): void {
    if (tag.failing) {
      void this.send([tag]);
      return;
    }
    this.ready.add(tag);
    if (!this.running) void this.run();
  }

  private async run(): Promise<void> {
    this.running = true;
    // Let calls of the same tick share one statement.
    await Promise.resolve();
    while (this.ready.size > 0) {
      const tags = [...this.ready].slice(0, WIDTH);
      for (const tag of tags) this.ready.delete(tag);
      await this.send(tags);
    }
    this.running = false;
  }

  private async send(tags: readonly LinedTag[]): Promise<void> {
    const asked = tags.flatMap((tag) => {
      const request = tag.begin();
      return request === undefined ? [] : [{ tag, request }];
    });
    if (asked.length === 0) return;
    const sentAt = this.now();
    const answers = this.store.allocateAll(asked.map(({ request }) => request));
    await Promise.all(asked.map(({ tag }, index) => tag.end(sentAt, answerAt(answers, index))));
  }
}

async function answerAt(answers: Promise<(Allocation | LeafError)[]>, index: number): Promise<Allocation> {
  const answer = (await answers)[index];
  if (answer === undefined) throw new Error('The store returned no result for a request.');
  if (answer instanceof Error) throw answer;
  return answer;
}

/**
 * A tag whose IDs ascend over all servers: a call that starts after another call has returned, on any server, gets a
 * higher ID.
 *
 * IDs are not buffered. Each allocation takes the IDs for the calls that are waiting when its statement is sent, and
 * only those calls get them. Every allocation raises the row, so the row orders the calls of all servers. IDs of
 * timed-out calls and of lost replies become gaps.
 */
export class StrictTag implements TagSource, LinedTag {
  readonly order = 'strict';
  readonly buffered = 0;
  issued = 0;
  listed = 0;

  private readonly callers: CallerQueue;
  private readonly source: RangeSource;
  /** An allocation is queued, in flight, or waits for its next attempt. */
  private busy = false;
  private asking = false;
  /** Number of IDs of the allocation in flight. */
  private asked = 0;
  private failures = 0;
  private readonly refusal: RecentRefusal;
  private retired: (() => LeafError) | undefined;
  private onEnd: (() => void) | undefined;

  /** @param highest the highest ID of the tag known to be taken; all issued IDs are above it */
  constructor(
    readonly tag: string,
    private readonly context: BufferContext,
    private readonly line: StrictLine,
    highest?: bigint,
  ) {
    const { waitMs } = context.options;
    this.source = new RangeSource(tag, context, highest);
    this.refusal = new RecentRefusal(context.clock);
    this.callers = new CallerQueue(context.clock, {
      waitMs,
      batchSize: MAX_RANGE_SIZE,
      late: () => strictUnavailable(tag, waitMs, this.source.failure),
    });
  }

  tryNext(): undefined {
    return undefined;
  }

  tryNextNumber(): undefined {
    return undefined;
  }

  /**
   * @throws LeafError `LEAF_SEGMENT_UNAVAILABLE` past the wait limit, `LEAF_OVERLOADED` when too many calls wait, or
   *   the error of the store
   */
  async take(): Promise<bigint> {
    return (await this.wait(1)).from;
  }

  tryRanges(): undefined {
    return undefined;
  }

  /** Always one range. @throws LeafError as {@link take} */
  async takeRanges(count: number): Promise<IdRange[]> {
    return [await this.wait(count)];
  }

  preload(): Promise<void> {
    return Promise.resolve();
  }

  async retire(reason: () => LeafError): Promise<IdRange[]> {
    this.retired = reason;
    this.callers.close(reason);
    if (this.asking) await new Promise<void>((resolve) => (this.onEnd = resolve));
    return [];
  }

  get failing(): boolean {
    return this.failures > 0;
  }

  get highest(): bigint {
    return this.source.highest;
  }

  get step(): number {
    return this.source.size;
  }

  get revision(): number {
    return 2 * this.source.tries + (this.asking ? 1 : 0);
  }

  snapshot(): DoubleBufferSnapshot {
    const { tag, order, issued, buffered, asking: loading } = this;
    const empty = { current: undefined, next: undefined, spare: [] };
    return { tag, order, issued, buffered, loading, ...empty, ...this.source.snapshot() };
  }

  begin(): AllocationRequest | undefined {
    if (!this.callers.occupied) {
      this.busy = false;
      return undefined;
    }
    this.asking = true;
    this.context.used.add(this);
    this.asked = this.callers.next();
    return { tag: this.tag, size: this.asked };
  }

  async end(sentAt: number, answer: Promise<Allocation>): Promise<void> {
    try {
      const [range] = await this.source.counted(sentAt, this.source.accept(sentAt, answer));
      // A tag that was deleted and created again as an interleaved one gives blocks.
      if (range === undefined || sizeOf(range) !== this.asked) throw replacedTag(this.tag);
      this.issued += this.callers.serve(range);
      this.failures = 0;
      this.note(undefined);
    } catch (error) {
      this.note(error);
      this.fail(error);
    }
    this.asking = false;
    this.onEnd?.();
    if (this.failures > 0) void this.enterLater();
    else this.enter();
  }

  private note(error: unknown): void {
    this.context.used.note(this, error, this.context.clock.monotonic());
  }

  private wait(count: number): Promise<IdRange> {
    if (this.retired !== undefined) return Promise.reject(this.retired());
    if (this.refusal.error !== undefined && this.refusal.isRecent) return Promise.reject(this.refusal.error);
    if (this.callers.length >= MAX_WAITING) return Promise.reject(tooManyWaiting(this.tag));
    const range = this.callers.wait(count);
    if (!this.busy) this.enter();
    return range;
  }

  private enter(): void {
    this.busy = this.callers.occupied;
    if (this.busy) this.line.enter(this);
  }

  private async enterLater(): Promise<void> {
    const { clock, random, closing } = this.context;
    await clock.sleep(backoffMs(this.failures, BACKOFF, random), closing);
    this.enter();
  }

  /** The numbers of a failed allocation become a gap, whether or not it was executed. */
  private fail(error: unknown): void {
    if (!(error instanceof LeafError)) {
      this.callers.refuse(strictUnavailable(this.tag, this.context.options.waitMs, error));
      return;
    }
    if (error.retryable) {
      this.failures++;
      this.callers.putBack();
      return;
    }
    this.failures = 0;
    if (error.code !== 'LEAF_TAG_EXHAUSTED') {
      this.refusal.keep(error);
    } else if (this.callers.divide()) {
      return;
    }
    this.callers.refuse(error);
  }
}
