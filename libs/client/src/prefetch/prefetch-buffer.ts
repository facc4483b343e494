import { LeafError, nextStep, retry } from '@leaf-ids/core';
import type { PrefetchContext, PrefetchOptions } from './prefetch-context';
import { asRefusal, BACKOFF, isPassing, tooLate } from './load-failures';
import { LoadRecord, type LoadView } from './load-record';

/** IDs of one answer, used from the front. */
export interface Stock {
  /** IDs not issued yet. */
  readonly left: number;
}

export interface PrefetchView extends LoadView {
  /** IDs that can be had without waiting. */
  readonly buffered: number;
  /** How many the next request ahead asks for, as far as is known. */
  readonly size: number;
  readonly loading: boolean;
}

/** Share of a load that is used when the next one is fetched. */
const PREFETCH_RATIO = 0.1;
/** A refusal that no retry mends (an unknown tag) is answered from memory this long before a server is asked again. */
const REFUSAL_MS = 1000;
/** So many loads have the smallest size before the consumption decides. */
const FIRST_LOADS = 2;

/**
 * A double buffer ahead of the servers: IDs come from `current`, and when a tenth of the newest load is used, one request
 * in the background fetches the next, so that between nine tenths and nearly two loads are at hand. Its size follows the
 * consumption (the step policy of the segments).
 *
 * - *serving*: IDs are at hand; a load may be under way, failing and retrying without anybody noticing.
 * - *waiting*: none are; callers wait for the one load under way, up to their deadline.
 * - *refused*: a load was refused for good; calls are answered with that for a second, then it is tried again.
 * - *closed*: for good.
 */
export abstract class PrefetchBuffer<S extends Stock> {
  protected current: S;
  /** While `current.left` is above this, an ID needs no further look. */
  protected checkpoint = 0;
  private readonly queue: S[] = [];
  /** IDs that waiting callers want, in all. */
  private wanted = 0;
  /** With no more IDs than this at hand the next load begins. */
  private lowMark = 0;
  private size = 0;
  private loadStartedAt = 0;
  private loading = false;
  private readonly record = new LoadRecord();
  private refusal: LeafError | undefined;
  private refusedUntil = 0;
  private closed: LeafError | undefined;
  private readonly wakers = new Set<() => void>();

  constructor(
    readonly name: string,
    protected readonly context: PrefetchContext,
    private readonly options: PrefetchOptions,
    /** Most IDs that a server gives at once. */
    private readonly limit: number,
    private readonly usedUp: S,
  ) {
    this.current = usedUp;
  }

  /** Whether nothing would be lost without it. */
  get idle(): boolean {
    return !this.loading && this.wakers.size === 0 && this.buffered === 0;
  }

  /** Resolves when IDs are at hand. */
  fill(): Promise<void> {
    return this.taken(1, () => undefined);
  }

  /** Calls, waiting ones included, are refused from now on. Returns how many IDs are dropped. */
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

  /** Asks for `count` IDs. */
  protected abstract fetch(count: number): Promise<S[]>;

  /** Something with an ID left, or undefined when there is nothing at hand; then a load is under way or was refused. */
  protected stocked(): S | undefined {
    if (this.current.left === 0 && !this.advance()) {
      this.replenish();
      return undefined;
    }
    this.topUp();
    return this.current;
  }

  /** Begins the next load when so few IDs are left that it is time. */
  protected topUp(): void {
    if (this.buffered <= this.lowMark) this.replenish();
  }

  /** Takes IDs away that are not to be issued any more. */
  protected dropStale(): void {
    // Most IDs do not age.
  }

  /**
   * What `take` gives when it is called with `count` IDs at hand.
   *
   * @throws LeafError what the servers refuse, or what they failed with by the deadline
   */
  protected async taken<T>(count: number, take: () => T): Promise<T> {
    const { clock, room, timeoutMs } = this.context;
    if (this.closed === undefined && this.has(count)) return take();
    const deadline = clock.monotonic() + timeoutMs;
    room.enter();
    this.wanted += count;
    try {
      while (!this.has(count)) {
        if (this.closed !== undefined) throw this.closed;
        this.replenish();
        if (!this.loading && this.refusal !== undefined) throw this.refusal;
        if (!(await this.change(deadline))) throw this.late();
      }
    } finally {
      this.wanted -= count;
      room.leave();
    }
    return take();
  }

  /** Starts the one load, unless it is not possible now. */
  protected replenish(): void {
    if (this.loading || this.closed !== undefined) return;
    if (this.context.clock.monotonic() < this.refusedUntil) return;
    this.loading = true;
    this.checkpoint = 0;
    void this.load();
  }

  /** Moves on to what follows `current`. */
  protected advance(): boolean {
    const next = this.queue.shift();
    this.current = next ?? this.usedUp;
    this.mark();
    return next !== undefined;
  }

  /** Why the newest load was refused; undefined once it is time to ask again. */
  protected get refusedWith(): LeafError | undefined {
    return this.context.clock.monotonic() < this.refusedUntil ? this.refusal : undefined;
  }

  protected get failure(): unknown {
    return this.record.lastError;
  }

  protected get buffered(): number {
    return this.queue.reduce((sum, { left }) => sum + left, this.current.left);
  }

  /** Waits until it makes sense to look again; false when the deadline came first. */
  protected async change(deadline: number): Promise<boolean> {
    const { clock } = this.context;
    const alarm = new AbortController();
    const wake = (): void => alarm.abort(null);
    this.wakers.add(wake);
    await clock.sleep(Math.max(0, deadline - clock.monotonic()), alarm.signal);
    this.wakers.delete(wake);
    return alarm.signal.aborted;
  }

  private has(count: number): boolean {
    this.dropStale();
    return this.buffered >= count;
  }

  private async load(): Promise<void> {
    const { clock, random, closing, events } = this.context;
    const startedAt = clock.monotonic();
    this.size = this.nextSize(startedAt - this.loadStartedAt);
    // A tag that never had an ID and that nobody waits for any more is let go.
    const isRetryable = (error: unknown): boolean =>
      isPassing(error) && (this.record.loads > 0 || this.wakers.size > 0);
    const options = { ...BACKOFF, attempts: Infinity, isRetryable, signal: closing };
    try {
      // Those who call at the same time are counted together.
      await Promise.resolve();
      const stocks = await retry(() => this.attempt(), options, clock, random);
      this.loadStartedAt = startedAt;
      const durationMs = clock.monotonic() - startedAt;
      this.record.loaded(durationMs);
      this.lowMark = Math.floor(this.size * (1 - PREFETCH_RATIO));
      this.accept(stocks);
      events.onLoad(
        this.name,
        stocks.reduce((sum, { left }) => sum + left, 0),
        durationMs,
      );
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
      const isNews = this.record.failed(error) && isPassing(error);
      if (isNews && this.closed === undefined) this.context.events.onLoadFailed(this.name, error);
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
    this.refusal = undefined;
  }

  private refuse(error: unknown): void {
    if (isPassing(error)) return;
    this.refusal = asRefusal(this.name, error);
    this.refusedUntil = this.context.clock.monotonic() + REFUSAL_MS;
  }

  /** While loading nobody need look; while refused everybody does, whether it may be tried again. */
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
