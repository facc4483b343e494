import { type IdRange, LeafError } from '@leaf-ids/core';
import { nextStep, RecentRefusal, retry } from '@leaf-ids/core/internal';
import type { PrefetchContext, PrefetchOptions } from './prefetch-context';
import { asRefusal, BACKOFF, isPassing, LoadRecord, type LoadView, tooLate } from './load-record';

const MAX_ANSWERS = 32;

/** Remembers the newest responses of one kind, to detect a response that repeats IDs of one of them. */
export class DuplicateDetector<T> {
  private readonly answers: T[] = [];

  constructor(private readonly overlap: (a: T, b: T) => boolean) {}

  isDuplicate(answer: T): boolean {
    return this.answers.some((known) => this.overlap(known, answer));
  }

  add(answer: T): void {
    this.answers.push(answer);
    if (this.answers.length > MAX_ANSWERS) this.answers.shift();
  }
}

/** Whether two lists of ascending ranges have an ID in common. */
export function rangesOverlap(a: readonly IdRange[], b: readonly IdRange[]): boolean {
  let index = 0;
  return a.some(({ from, to }) => {
    while (index < b.length && (b[index] as IdRange).to < from) index++;
    const next = b[index];
    return next !== undefined && next.from <= to;
  });
}

/** The IDs of one response, consumed from the front. */
export interface Stock {
  /** IDs not issued yet. */
  readonly left: number;
}

export interface PrefetchView extends LoadView {
  /** IDs that are available without waiting. */
  readonly buffered: number;
  /** Size of the newest load; its request is larger if callers wait for more. */
  readonly size: number;
  readonly loading: boolean;
}

/** The next load starts when this share of a load is used. */
const PREFETCH_RATIO = 0.1;
/** The first loads have the minimum size; later sizes follow the consumption. */
const FIRST_LOADS = 2;

/**
 * A double buffer of prefetched IDs. IDs come from `current`. When a tenth of the newest load is used, one background
 * request fetches the next load, so that 0.9 to almost 2 loads are buffered. The size follows the consumption (the step
 * policy of the segments).
 *
 * - *serving*: IDs are buffered; a load may be in progress, and its failures and retries do not affect callers.
 * - *waiting*: no IDs are buffered; callers wait for the load in progress, up to their deadline.
 * - *refused*: a load was refused permanently; calls reject with this refusal for one second, then a new load starts.
 * - *closed*: final.
 */
export abstract class PrefetchBuffer<S extends Stock> {
  protected current: S;
  /** While `current.left` is above this, taking an ID needs no further checks. */
  protected checkpoint = 0;
  private readonly queue: S[] = [];
  /** Total number of IDs that waiting callers need. */
  private wanted = 0;
  /** The next load starts when no more IDs than this are buffered. */
  private lowMark = 0;
  private size = 0;
  private loadStartedAt = 0;
  private loading = false;
  private readonly record = new LoadRecord();
  protected readonly refusal: RecentRefusal;
  private closed: LeafError | undefined;
  private readonly wakers = new Set<() => void>();

  constructor(
    readonly name: string,
    protected readonly context: PrefetchContext,
    private readonly options: PrefetchOptions,
    /** Maximum number of IDs per request. */
    private readonly limit: number,
    private readonly usedUp: S,
  ) {
    this.current = usedUp;
    this.refusal = new RecentRefusal(context.clock);
  }

  /** Whether the buffer can be removed without losing IDs or callers. */
  get idle(): boolean {
    return !this.loading && this.buffered === 0;
  }

  /** Resolves when IDs are buffered. */
  fill(): Promise<void> {
    return this.taken(1, () => undefined);
  }

  /** Rejects all further and waiting calls; returns the number of dropped IDs. */
  close(reason: LeafError): number {
    if (this.closed !== undefined) return 0;
    const dropped = this.buffered;
    this.closed = reason;
    this.current = this.usedUp;
    this.queue.length = 0;
    this.checkpoint = 0;
    this.wake();
    return dropped;
  }

  snapshot(): PrefetchView {
    const { buffered, size, loading } = this;
    return { buffered, size, loading, ...this.record.view };
  }

  /** Requests `count` IDs. */
  protected abstract fetch(count: number): Promise<S[]>;

  /** A stock with an ID left; undefined when the buffer is empty, and a load is in progress or was refused. */
  protected stocked(): S | undefined {
    if (this.current.left === 0 && !this.advance()) {
      this.replenish();
      return undefined;
    }
    this.topUp();
    return this.current;
  }

  /** Starts the next load at the low mark. */
  protected topUp(): void {
    if (this.buffered <= this.lowMark) this.replenish();
  }

  /** Drops IDs that are too old to be issued. */
  protected dropStale(): void {
    // Segment IDs do not expire.
  }

  /**
   * Waits until `count` IDs are buffered, then returns the result of `take`.
   *
   * @throws LeafError the refusal of the servers, or their last failure at the deadline
   */
  protected async taken<T>(count: number, take: () => T): Promise<T> {
    const { clock, callerLimit, timeoutMs } = this.context;
    if (this.has(count)) return take();
    const deadline = clock.monotonic() + timeoutMs;
    callerLimit.enter();
    this.wanted += count;
    try {
      while (!this.has(count)) {
        if (this.closed !== undefined) throw this.closed;
        this.replenish();
        if (!this.loading && this.refusal.error !== undefined) throw this.refusal.error;
        if (!(await this.change(deadline))) throw this.late();
      }
    } finally {
      this.wanted -= count;
      callerLimit.leave();
    }
    return take();
  }

  /** Starts a load, unless one is in progress or was just refused. */
  protected replenish(): void {
    if (this.loading || this.closed !== undefined) return;
    if (this.refusal.isRecent) return;
    this.loading = true;
    this.checkpoint = 0;
    void this.load();
  }

  /** Makes the next stock of the queue current. */
  protected advance(): boolean {
    const next = this.queue.shift();
    this.current = next ?? this.usedUp;
    this.mark();
    return next !== undefined;
  }

  protected get failure(): unknown {
    return this.record.lastError;
  }

  protected get buffered(): number {
    return this.queue.reduce((sum, { left }) => sum + left, this.current.left);
  }

  /** Waits until the load in progress ends; false when the deadline passes first. */
  protected async change(deadline: number): Promise<boolean> {
    const { clock } = this.context;
    const woken = new AbortController();
    const wake = (): void => woken.abort(null);
    this.wakers.add(wake);
    await clock.sleep(Math.max(0, deadline - clock.monotonic()), woken.signal);
    this.wakers.delete(wake);
    return woken.signal.aborted;
  }

  private has(count: number): boolean {
    this.dropStale();
    return this.buffered >= count;
  }

  private async load(): Promise<void> {
    const { clock, random, closing, events } = this.context;
    const startedAt = clock.monotonic();
    this.size = this.nextSize(startedAt - this.loadStartedAt);
    // Stop retrying for a tag that never had an ID and has no waiting callers.
    const isRetryable = (error: unknown): boolean =>
      isPassing(error) && (this.record.loads > 0 || this.wakers.size > 0);
    const options = { ...BACKOFF, attempts: Infinity, isRetryable, signal: closing };
    try {
      // Let concurrent callers register first, so that one request serves all of them.
      await Promise.resolve();
      const stocks = await retry(() => this.attempt(), options, clock, random);
      this.loadStartedAt = startedAt;
      const durationMs = clock.monotonic() - startedAt;
      this.record.loaded(durationMs);
      const received = stocks.reduce((sum, { left }) => sum + left, 0);
      // Small loads of a tag that is nearly used up follow each other fast, although little is consumed.
      this.size = Math.min(this.size, Math.max(received, this.options.minSize));
      this.lowMark = Math.floor(this.size * (1 - PREFETCH_RATIO));
      this.accept(stocks);
      events.onLoad(this.name, received, durationMs);
    } catch (error) {
      this.refuse(error);
    }
    this.loading = false;
    this.mark();
    this.wake();
  }

  private async attempt(): Promise<S[]> {
    try {
      const stocks = await this.fetch(Math.min(this.limit, Math.max(this.size, this.wanted - this.buffered)));
      this.record.answered();
      return stocks;
    } catch (error) {
      const isReported = this.record.failed(error) && isPassing(error);
      if (isReported && this.closed === undefined) this.context.events.onLoadFailed(this.name, error);
      throw error;
    }
  }

  private nextSize(elapsedMs: number): number {
    const { minSize, maxSize, durationMs } = this.options;
    if (this.record.loads < FIRST_LOADS) return minSize;
    return nextStep(this.size, minSize, elapsedMs, { durationMs, maxStep: maxSize });
  }

  private accept(stocks: readonly S[]): void {
    if (this.closed === undefined) this.queue.push(...stocks);
    this.refusal.forget();
  }

  private refuse(error: unknown): void {
    if (isPassing(error)) return;
    this.refusal.keep(asRefusal(this.name, error));
  }

  /** During a load no checks are needed until `current` is empty; otherwise they are needed from the low mark on. */
  private mark(): void {
    const queued = this.buffered - this.current.left;
    this.checkpoint = this.loading ? 0 : Math.max(0, this.lowMark - queued);
  }

  private wake(): void {
    for (const wake of this.wakers) wake();
    this.wakers.clear();
  }

  private late(): LeafError {
    return tooLate(this.name, this.context.timeoutMs, this.record.lastError);
  }
}
