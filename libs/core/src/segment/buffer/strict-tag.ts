import type { Clock } from '../../clock/clock';
import { LeafError } from '../../errors/leaf-error';
import { backoffMs, RecentRefusal } from '../../util/retry';
import type { BufferContext } from '../allocation/buffer-context';
import { BACKOFF } from './allocating-source';
import { type Batch, CallerQueue } from './caller-queue';
import { PacedSender } from './paced-sender';
import { type IdRange, MAX_RANGE_SIZE, sizeOf } from '../tags/id-range';
import { OverlappingRanges } from '../allocation/overlapping-ranges';
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
  begin(): StrictRequest | undefined;
}

interface StrictRequest extends AllocationRequest {
  /** Processes the result of the request, sent at `sentAt` in monotonic milliseconds. Never rejects. */
  readonly end: (sentAt: number, answer: Promise<Allocation>) => Promise<void>;
}

/** Maximum number of tags per statement, so that the statement ends in time. */
const WIDTH = 50;
/** Statements in flight at a time. */
export const MAX_IN_FLIGHT = 4;

/**
 * Batches the allocations of the strict tags of one database. Up to {@link MAX_IN_FLIGHT} statements are in flight at a
 * time, and each serves all tags that have waiting callers when it is sent: a call joins only a statement that is not
 * sent yet, so one that starts after another call was answered is in a later statement. A tag whose allocation failed is
 * sent separately until it succeeds, so that a locked row does not delay other tags.
 */
export class StrictLine {
  private readonly ready = new Set<LinedTag>();
  private readonly sender: PacedSender;

  constructor(
    private readonly store: Pick<SegmentStore, 'allocateAll'>,
    private readonly clock: Pick<Clock, 'monotonic' | 'after'>,
    maxInFlight = MAX_IN_FLIGHT,
  ) {
    const isReady = (): boolean => this.ready.size > 0;
    this.sender = new PacedSender(clock, maxInFlight, { isReady, send: () => this.sendNext() });
  }

  /** Queues a tag that has waiting callers. */
  enter(tag: LinedTag): void {
    if (tag.failing) {
      void this.send([tag]);
      return;
    }
    this.ready.add(tag);
    this.sender.wake();
  }

  private sendNext(): Promise<boolean> {
    const tags = [...this.ready].slice(0, WIDTH);
    for (const tag of tags) this.ready.delete(tag);
    return this.send(tags);
  }

  /** @returns whether the database has answered with a range */
  private async send(tags: readonly LinedTag[]): Promise<boolean> {
    const requests = tags.flatMap((tag) => tag.begin() ?? []);
    if (requests.length === 0) return false;
    const sentAt = this.clock.monotonic();
    const answers = this.store.allocateAll(requests.map(({ tag, size }) => ({ tag, size })));
    await Promise.all(requests.map(({ end }, index) => end(sentAt, answerAt(answers, index))));
    return answers.then(
      (results) => results.some((result) => !(result instanceof Error)),
      () => false,
    );
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
  private readonly overlapping: OverlappingRanges;
  /** After a failure, one attempt at a time is made: it is backing off or in flight (`waiting`), or to be sent next (`due`). */
  private attempt: 'none' | 'waiting' | 'due' = 'none';
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
    this.overlapping = new OverlappingRanges(this.source.highest);
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
    if (this.overlapping.size > 0) await new Promise<void>((resolve) => (this.onEnd = resolve));
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
    return 8 * this.source.tries + this.overlapping.size;
  }

  snapshot(): DoubleBufferSnapshot {
    const { tag, order, issued, buffered } = this;
    const loading = this.overlapping.size > 0;
    const empty = { current: undefined, next: undefined, spare: [] };
    return { tag, order, issued, buffered, loading, ...empty, ...this.source.snapshot() };
  }

  begin(): StrictRequest | undefined {
    if (!this.callers.occupied || this.attempt === 'waiting') return undefined;
    const isAttempt = this.attempt === 'due';
    if (isAttempt) this.attempt = 'waiting';
    this.context.used.add(this);
    const batch = this.callers.next();
    const sent = this.overlapping.send();
    const end: StrictRequest['end'] = async (sentAt, answer) => {
      const isNew = (range: IdRange): boolean => this.overlapping.take(sent, range);
      await this.complete(batch, sentAt, this.source.accept(sentAt, answer, isNew));
      this.overlapping.end(sent);
      if (this.overlapping.size === 0) this.onEnd?.();
      if (isAttempt) this.attempt = 'none';
      if (this.failures > 0) void this.enterLater();
      else this.enter();
    };
    return { tag: this.tag, size: batch.size, end };
  }

  private async complete(batch: Batch, sentAt: number, allocation: Promise<IdRange[]>): Promise<void> {
    try {
      const [range] = await this.source.counted(sentAt, allocation);
      // A tag that was deleted and created again as an interleaved one gives blocks.
      if (range === undefined || sizeOf(range) !== batch.size) throw replacedTag(this.tag);
      this.issued += this.callers.serve(batch, range);
      this.failures = 0;
      this.note(undefined);
    } catch (error) {
      this.note(error);
      this.fail(batch, error);
    }
  }

  private note(error: unknown): void {
    this.context.used.note(this, error, this.context.clock.monotonic());
  }

  private wait(count: number): Promise<IdRange> {
    if (this.retired !== undefined) return Promise.reject(this.retired());
    if (this.refusal.error !== undefined && this.refusal.isRecent) return Promise.reject(this.refusal.error);
    if (this.callers.length >= MAX_WAITING) return Promise.reject(tooManyWaiting(this.tag));
    const range = this.callers.wait(count);
    this.enter();
    return range;
  }

  private enter(): void {
    if (!this.callers.occupied || this.attempt !== 'none') return;
    if (this.failing) this.attempt = 'due';
    this.line.enter(this);
  }

  private async enterLater(): Promise<void> {
    if (this.attempt !== 'none') return;
    this.attempt = 'waiting';
    const { clock, random, closing } = this.context;
    await clock.sleep(backoffMs(this.failures, BACKOFF, random), closing);
    this.attempt = 'none';
    this.enter();
  }

  /** The numbers of a failed allocation become a gap, whether or not it was executed. */
  private fail(batch: Batch, error: unknown): void {
    if (!(error instanceof LeafError)) {
      this.callers.refuse(batch, strictUnavailable(this.tag, this.context.options.waitMs, error));
      return;
    }
    if (error.retryable) {
      this.failures++;
      this.callers.putBack(batch);
      return;
    }
    this.failures = 0;
    if (error.code !== 'LEAF_TAG_EXHAUSTED') {
      this.refusal.keep(error);
    } else if (this.callers.divide(batch)) {
      return;
    }
    this.callers.refuse(batch, error);
  }
}
