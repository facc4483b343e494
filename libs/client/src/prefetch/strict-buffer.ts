import { type IdRange, LeafError, MAX_RANGE_SIZE } from '@leaf-ids/core';
import { backoffMs, CallerQueue } from '@leaf-ids/core/internal';
import { readRanges } from '../http/answers';
import { RequestPolicy } from '../servers/server-choice';
import { ServerFault } from '../servers/server-health';
import type { PrefetchContext } from './prefetch-context';
import { asRefusal, BACKOFF, isPassing, LoadRecord, tooLate } from './load-record';
import type { PrefetchView } from './prefetch-buffer';

/**
 * The IDs of one strict tag, without prefetch. One request is in progress at a time, for as many IDs as callers wait
 * for when it is sent, and its IDs go only to these callers. This also applies when the request is retried on another
 * server or the response is late; unused IDs become a gap.
 */
export class StrictBuffer {
  private readonly callers: CallerQueue;
  private readonly policy: RequestPolicy;
  private highest = 0n;
  private size = 0;
  private loading = false;
  private readonly record = new LoadRecord();
  private closed: LeafError | undefined;

  constructor(
    readonly name: string,
    private readonly context: PrefetchContext,
  ) {
    const { clock, timeoutMs } = context;
    this.policy = new RequestPolicy(name, clock);
    this.callers = new CallerQueue(clock, {
      waitMs: timeoutMs,
      batchSize: MAX_RANGE_SIZE,
      late: () => tooLate(name, timeoutMs, this.record.lastError),
    });
  }

  /** Whether the buffer can be removed without losing callers. */
  get idle(): boolean {
    return !this.loading;
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

  /** Not async, to add no promise per caller: thousands may wait at the same time. */
  private wait(count: number, since?: number): Promise<IdRange> {
    if (this.closed !== undefined) throw this.closed;
    this.context.callerLimit.enter();
    const range = this.callers.wait(count, since);
    range.then(this.leave, this.leave);
    if (!this.loading) void this.run();
    return range;
  }

  private readonly leave = (): void => this.context.callerLimit.leave();

  private async run(): Promise<void> {
    this.loading = true;
    // Let concurrent callers register first, so that one request serves all of them.
    await Promise.resolve();
    while (this.callers.occupied) await this.ask();
    this.loading = false;
  }

  private async ask(): Promise<void> {
    const { clock, requester } = this.context;
    const startedAt = clock.monotonic();
    this.size = this.callers.next();
    try {
      const path = `/api/segment/range/${this.name}?size=${this.size}`;
      const range = await requester.get(this.policy, path, (body) => this.read(body, this.size));
      this.highest = range.to;
      this.record.loaded(clock.monotonic() - startedAt);
      this.record.answered();
      this.callers.serve(range);
    } catch (error) {
      await this.fail(error);
    }
  }

  private read(body: unknown, count: number): IdRange {
    const { ranges } = readRanges(body, this.name, count);
    const [range, ...others] = ranges;
    if (range === undefined || others.length > 0) {
      throw new ServerFault(`invalid response: the strict tag "${this.name}" has more than one range`);
    }
    if (range.from > this.highest) return range;
    throw new ServerFault(
      `it returned ${range.from} of the strict tag "${this.name}" after ${this.highest}: a proxy caches responses, or the servers do not share one database`,
    );
  }

  private async fail(error: unknown): Promise<void> {
    const { clock, random, closing, events } = this.context;
    const isReported = this.record.failed(error);
    if (isPassing(error)) {
      if (isReported && this.closed === undefined) events.onLoadFailed(this.name, error);
      this.callers.putBack();
      await clock.sleep(backoffMs(this.record.failuresInRow, BACKOFF, random), closing);
      return;
    }
    const isExhausted = error instanceof LeafError && error.code === 'LEAF_TAG_EXHAUSTED';
    if (isExhausted && this.callers.divide()) return;
    this.callers.refuse(asRefusal(this.name, error));
  }
}
