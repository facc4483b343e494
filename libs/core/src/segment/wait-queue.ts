import type { Clock } from '../clock/clock';

/**
 * What ended a wait: an allocation ended (`woken`), the deadline passed (`late`), or newer calls displaced this one
 * (`evicted`).
 */
export type WaitEnd = 'woken' | 'late' | 'evicted';

/** Up to this number of calls, no call is evicted. */
const ROOM = 256;
/** How long the queue counts as overloaded after it held {@link ROOM} calls, in milliseconds. */
const OVERLOADED_MS = 1000;
/** In an overloaded queue, calls that have waited this long are evicted, in milliseconds. */
const PATIENCE_MS = 10;

interface Waiter {
  readonly since: number;
  readonly end: (end: WaitEnd) => void;
}

/**
 * The calls that wait for IDs of one tag, oldest first. Under overload, the newest calls are served after a short wait
 * and older ones are refused early. Otherwise all calls would wait for almost their whole limit.
 */
export class WaitQueue {
  private waiters: Set<Waiter> | undefined;
  private watchers: (() => void)[] | undefined;
  private overloadedUntil = -Infinity;

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

  /** @param deadline start of the call plus `waitMs`, in monotonic milliseconds */
  wait(deadline: number): Promise<WaitEnd> {
    const now = this.clock.monotonic();
    const since = deadline - this.waitMs;
    const overloaded = this.isOverloaded(now);
    if (overloaded) this.evict(now);
    const end = overloaded ? Math.min(deadline, since + PATIENCE_MS) : deadline;
    const waiters = (this.waiters ??= new Set());
    return new Promise((resolve) => {
      const cancel = this.clock.after(Math.max(0, end - now), () => waiter.end(end < deadline ? 'evicted' : 'late'));
      const waiter: Waiter = {
        since,
        end: (reason) => {
          cancel();
          waiters.delete(waiter);
          resolve(reason);
        },
      };
      waiters.add(waiter);
    });
  }

  /** Waits for {@link wake} without counting as a waiting call. */
  watch(): Promise<void> {
    return new Promise((resolve) => (this.watchers ??= []).push(resolve));
  }

  wake(): void {
    for (const waiter of this.waiters ?? []) waiter.end('woken');
    for (const resolve of this.watchers ?? []) resolve();
    this.waiters = undefined;
    this.watchers = undefined;
  }

  private isOverloaded(now: number): boolean {
    if (this.waiters !== undefined && this.waiters.size >= ROOM) this.overloadedUntil = now + OVERLOADED_MS;
    return now < this.overloadedUntil;
  }

  private evict(now: number): void {
    for (const waiter of this.waiters ?? []) {
      if (now - waiter.since < PATIENCE_MS) return;
      waiter.end('evicted');
    }
  }
}
