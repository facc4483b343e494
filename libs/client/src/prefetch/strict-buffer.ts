import { type IdRange, type LeafError, MAX_RANGE_SIZE } from '@leaf-ids/core';
import {
  backoffMs,
  type Batch,
  CallerQueue,
  OverlappingRanges,
  PacedSender,
  RecentRefusal,
  type SentAllocation,
} from '@leaf-ids/core/internal';
import { readRanges } from '../http/answers';
import { RequestPolicy } from '../servers/server-choice';
import { ServerFault } from '../servers/server-health';
import type { PrefetchContext } from './prefetch-context';
import { asRefusal, BACKOFF, isPassing, LoadRecord, tooLate } from './load-record';
import type { PrefetchView } from './prefetch-buffer';

/** Requests of one tag in progress at a time. The server's limit of statements is another one, for all tags together. */
const MAX_IN_FLIGHT = 4;

/**
 * The IDs of one strict tag, without prefetch. A few requests are in progress at a time, each for as many IDs as callers
 * wait for when it is sent, and its IDs go only to these callers. This also applies when the request is retried on
 * another server or the response is late; unused IDs become a gap. After a failure, one request at a time is sent until
 * one succeeds.
 */
export class StrictBuffer {
  private readonly callers: CallerQueue;
  private readonly policy: RequestPolicy;
  private readonly overlapping = new OverlappingRanges(0n);
  private readonly sender: PacedSender;
  private size = 0;
  private readonly record = new LoadRecord();
  /** The newest refusal because the tag has fewer IDs left. While it is recent, only fewer IDs are requested. */
  private readonly exhausted: RecentRefusal;
  /** Fewest IDs that were refused. */
  private tooMany = Infinity;
  private closed: LeafError | undefined;

  constructor(
    readonly name: string,
    private readonly context: PrefetchContext,
  ) {
    const { clock, timeoutMs } = context;
    this.policy = new RequestPolicy(name, clock);
    this.exhausted = new RecentRefusal(clock);
    this.callers = new CallerQueue(clock, {
      waitMs: timeoutMs,
      batchSize: MAX_RANGE_SIZE,
      late: () => tooLate(name, timeoutMs, this.record.lastError),
    });
    const isReady = (): boolean => this.callers.occupied && !this.isHeldBack;
    this.sender = new PacedSender(clock, MAX_IN_FLIGHT, { isReady, send: () => this.ask() });
  }

  /** Whether the buffer can be removed without losing callers. */
  get idle(): boolean {
    return !this.loading && !this.callers.occupied;
  }

  tryNext(): undefined {
    return undefined;
  }

  tryNextNumber(): undefined {
    return undefined;
  }

  /**
   * The next ID.
   *
   * @param since start of the call, in monotonic milliseconds
   * @throws LeafError the refusal of the servers, or their last failure at the deadline
   */
  async take(since?: number): Promise<bigint> {
    return (await this.wait(1, since)).from;
  }

  /**
   * The next `count` IDs, ascending.
   *
   * @throws LeafError as {@link take}
   */
  async takeRanges(count: number, since?: number): Promise<IdRange[]> {
    return [await this.wait(count, since)];
  }

  /** Does nothing: strict tags are not prefetched. */
  fill(): Promise<void> {
    return Promise.resolve();
  }

  /** Rejects all further and waiting calls; returns 0, because no IDs are buffered. */
  close(reason: LeafError): number {
    this.closed = reason;
    this.callers.close(() => reason);
    return 0;
  }

  snapshot(): PrefetchView {
    const { size, loading } = this;
    return { buffered: 0, size, loading, ...this.record.view };
  }

  private get loading(): boolean {
    return this.sender.isStarting || this.overlapping.size > 0;
  }

  /** Not async, to add no promise per caller: thousands may wait at the same time. */
  private wait(count: number, since?: number): Promise<IdRange> {
    if (this.closed !== undefined) throw this.closed;
    this.context.callerLimit.enter();
    const range = this.callers.wait(count, since);
    range.then(this.leave, this.leave);
    this.sender.wake();
    return range;
  }

  private readonly leave = (): void => this.context.callerLimit.leave();

  /** After a failure, one request at a time is sent. */
  private get isHeldBack(): boolean {
    return this.record.failuresInRow > 0 && this.overlapping.size > 0;
  }

  private async ask(): Promise<boolean> {
    const { clock, requester } = this.context;
    const startedAt = clock.monotonic();
    const batch = this.callers.next();
    const { isRecent, error: known } = this.exhausted;
    if (isRecent && known !== undefined && batch.size >= this.tooMany) {
      this.refuse(batch, known);
      return false;
    }
    const sent = this.overlapping.send();
    this.size = batch.size;
    try {
      const path = `/api/segment/range/${this.name}?size=${batch.size}`;
      const range = await requester.get(this.policy, path, (body) => this.read(body, batch.size, sent));
      this.record.loaded(clock.monotonic() - startedAt);
      this.record.answered();
      this.callers.serve(batch, range);
      return true;
    } catch (error) {
      await this.fail(batch, error);
      return false;
    } finally {
      this.overlapping.end(sent);
    }
  }

  private read(body: unknown, count: number, sent: SentAllocation): IdRange {
    const { ranges } = readRanges(body, this.name, count);
    const [range, ...others] = ranges;
    if (range === undefined || others.length > 0) {
      throw new ServerFault(`invalid response: the strict tag "${this.name}" has more than one range`);
    }
    if (this.overlapping.take(sent, range)) return range;
    throw new ServerFault(
      `it returned ${range.from} of the strict tag "${this.name}" after ${this.overlapping.highest}: a proxy caches responses, or the servers do not share one database`,
    );
  }

  private async fail(batch: Batch, error: unknown): Promise<void> {
    const { clock, random, closing, events } = this.context;
    const isReported = this.record.failed(error);
    if (isPassing(error)) {
      if (isReported && this.closed === undefined) events.onLoadFailed(this.name, error);
      this.callers.putBack(batch);
      // The request counts as in progress to the end of the wait, so that no other one is sent.
      await clock.sleep(backoffMs(this.record.failuresInRow, BACKOFF, random), closing);
      return;
    }
    const refusal = asRefusal(this.name, error);
    if (refusal.code === 'LEAF_TAG_EXHAUSTED') {
      this.tooMany = this.exhausted.isRecent ? Math.min(this.tooMany, batch.size) : batch.size;
      this.exhausted.keep(refusal);
      this.policy.releaseAll();
    }
    this.refuse(batch, refusal);
  }

  private refuse(batch: Batch, refusal: LeafError): void {
    if (refusal.code === 'LEAF_TAG_EXHAUSTED' && this.callers.divide(batch)) return;
    this.callers.refuse(batch, refusal);
  }
}
