import type { Clock } from '../clock/clock';

/**
 * What ended a wait: an allocation ended (`woken`), the deadline passed (`late`), or the call was refused early
 * (`evicted`), because newer calls displaced it or {@link MAX_WAITING} calls were already waiting.
 */
export type WaitEnd = 'woken' | 'late' | 'evicted';

/** Maximum number of waiting calls of a tag. */
export const MAX_WAITING = 100_000;
/** Up to this number of calls, no call is evicted. */
const ROOM = 256;
/** How long the queue stays overloaded, in milliseconds. */
const OVERLOADED_MS = 1000;
/** In an overloaded queue, calls that have waited this long are evicted, in milliseconds. */
const PATIENCE_MS = 10;

interface Waiter {
  readonly since: number;
  readonly count: number;
  readonly end: (end: WaitEnd) => void;
}

/**
 * The calls that wait for IDs of one tag, oldest first. Usually each waits up to its deadline: a load covers all calls
 * that wait for it. The queue is overloaded if it holds more than {@link ROOM} calls and no allocation has ended for half
 * of the wait limit. Then the newest calls are served after a short wait and older ones are refused early; otherwise
 * all calls would wait for almost their whole limit.
 */
export class WaitQueue {
  private waiters: Set<Waiter> | undefined;
  private watchers: (() => void)[] | undefined;
  private overloadedUntil = -Infinity;
  /** Whether no allocation has ended for half of the wait limit. */
  private isLate = false;
  /** Set while the time to {@link isLate} runs. */
  private cancelLate: (() => void) | undefined;
  private wanted = 0;

  constructor(
    private readonly clock: Clock,
    private readonly waitMs: number,
  ) {}

  /** Whether the queue is empty and not overloaded, so that it can be discarded. */
  get idle(): boolean {
    return this.waiters === undefined && this.watchers === undefined && this.clock.monotonic() >= this.overloadedUntil;
  }

  /** Whether a call waits. */
  get occupied(): boolean {
    return this.waiters !== undefined && this.waiters.size > 0;
  }

  /** Number of IDs that the calls wait for. */
  get ids(): number {
    return this.wanted;
  }

  /**
   * @param deadline start of the call plus `waitMs`, in monotonic milliseconds
   * @param count number of IDs that the call needs
   */
  wait(deadline: number, count: number): Promise<WaitEnd> {
    const now = this.clock.monotonic();
    const since = deadline - this.waitMs;
    this.watchForLate();
    const overloaded = this.isOverloaded(now);
    if (overloaded) this.evict(now);
    const waiters = (this.waiters ??= new Set());
    if (waiters.size >= MAX_WAITING) return Promise.resolve('evicted');
    const end = overloaded ? Math.min(deadline, since + PATIENCE_MS) : deadline;
    return new Promise((resolve) => {
      const cancel = afterReplies(this.clock, end - now, () => waiter.end(end < deadline ? 'evicted' : 'late'));
      const waiter: Waiter = {
        since,
        count,
        end: (reason) => {
          cancel();
          if (waiters.delete(waiter)) this.wanted -= count;
          resolve(reason);
        },
      };
      waiters.add(waiter);
      this.wanted += count;
    });
  }

  /** Waits for {@link wake} without counting as a waiting call. */
  watch(): Promise<void> {
    return new Promise((resolve) => (this.watchers ??= []).push(resolve));
  }

  /**
   * Call it when an allocation has ended.
   *
   * @returns number of IDs that the woken calls need
   */
  wake(): number {
    const { wanted } = this;
    this.isLate = false;
    this.cancelLate?.();
    this.cancelLate = undefined;
    for (const waiter of this.waiters ?? []) waiter.end('woken');
    for (const resolve of this.watchers ?? []) resolve();
    this.waiters = undefined;
    this.watchers = undefined;
    return wanted;
  }

  private watchForLate(): void {
    if (this.isLate || this.cancelLate !== undefined) return;
    this.cancelLate = afterReplies(this.clock, this.waitMs / 2, () => {
      this.isLate = true;
      this.cancelLate = undefined;
    });
  }

  private isOverloaded(now: number): boolean {
    const isFull = this.waiters !== undefined && this.waiters.size >= ROOM;
    if (isFull && this.isLate) this.overloadedUntil = now + OVERLOADED_MS;
    return now < this.overloadedUntil;
  }

  private evict(now: number): void {
    for (const waiter of this.waiters ?? []) {
      if (now - waiter.since < PATIENCE_MS) return;
      waiter.end('evicted');
    }
  }
}

/**
 * As `clock.after`, but lets replies that have already arrived be processed first: a burst of calls may have blocked the
 * event loop past the time, and timers run before replies.
 *
 * @returns cancels the call
 */
function afterReplies(clock: Clock, ms: number, act: () => void): () => void {
  let cancel = clock.after(Math.max(0, ms), () => {
    cancel = clock.after(0, act);
  });
  return () => cancel();
}
