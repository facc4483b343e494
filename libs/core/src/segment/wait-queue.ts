import type { Clock } from '../clock/clock';

/** What ended a wait: there is something new to look at; the deadline; newer calls, to which this one gave way. */
export type WaitEnd = 'woken' | 'late' | 'evicted';

/** So many calls wait undisturbed, however long it takes. */
const ROOM = 256;
/** Once there were more, the line counts as crowded for this time, in milliseconds. */
const OVERLOADED_MS = 1000;
/** In a crowded line, calls that have waited this long give way to newer ones, in milliseconds. */
const PATIENCE_MS = 10;

interface Waiter {
  readonly since: number;
  readonly alarm: AbortController;
}

/**
 * The calls that wait for IDs of one tag, oldest first. Where far more is asked for than the store gives, those served
 * are the newest: they have waited for a moment, and the others are refused soon, in place of all of them waiting nearly
 * as long as they may.
 */
export class WaitQueue {
  private waiters: Set<Waiter> | undefined;
  private watchers: (() => void)[] | undefined;
  private overloadedUntil = -Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly waitMs: number,
  ) {}

  /** Whether no call waits, and a new line would do as well. */
  get idle(): boolean {
    return this.waiters === undefined && this.watchers === undefined && this.clock.monotonic() >= this.overloadedUntil;
  }

  /** Whether a call waits. */
  get occupied(): boolean {
    return this.waiters !== undefined && this.waiters.size > 0;
  }

  /** @param deadline the begin of the call, and `waitMs` later */
  async wait(deadline: number): Promise<WaitEnd> {
    const now = this.clock.monotonic();
    const since = deadline - this.waitMs;
    const crowded = this.isOverloaded(now);
    if (crowded) this.evict(now);
    const end = crowded ? Math.min(deadline, since + PATIENCE_MS) : deadline;
    const waiter = { since, alarm: new AbortController() };
    const { signal } = waiter.alarm;
    const waiters = (this.waiters ??= new Set());
    waiters.add(waiter);
    await this.clock.sleep(Math.max(0, end - now), signal);
    waiters.delete(waiter);
    if (signal.aborted) return signal.reason as WaitEnd;
    return end < deadline ? 'evicted' : 'late';
  }

  /** Waits for {@link wake} without asking for anything. */
  watch(): Promise<void> {
    return new Promise((resolve) => (this.watchers ??= []).push(resolve));
  }

  wake(): void {
    for (const { alarm } of this.waiters ?? []) alarm.abort('woken' satisfies WaitEnd);
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
      this.waiters?.delete(waiter);
      waiter.alarm.abort('evicted' satisfies WaitEnd);
    }
  }
}
