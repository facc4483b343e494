import type { Clock } from '../clock/clock';

/** What ended a wait: there is something new to look at; the deadline; newer calls, to which this one gave way. */
export type WaitEnd = 'woken' | 'late' | 'displaced';

/** So many calls wait undisturbed, however long it takes. */
const ROOM = 256;
/** In a longer line whoever has waited this long gives way to newer calls, in milliseconds. */
const PATIENCE_MS = 25;

interface Waiter {
  readonly since: number;
  readonly alarm: AbortController;
}

/**
 * The calls that wait for IDs of one tag, oldest first. Where far more is asked for than the store gives, those served
 * are the newest: they have waited for a moment, and nobody has waited nearly as long as he may for nothing.
 */
export class WaitingLine {
  private readonly waiters = new Set<Waiter>();
  private readonly watchers = new Set<() => void>();

  constructor(
    private readonly clock: Clock,
    private readonly waitMs: number,
  ) {}

  /** @param deadline the begin of the call, and `waitMs` later */
  async wait(deadline: number): Promise<WaitEnd> {
    const now = this.clock.monotonic();
    this.displace(now);
    const waiter = { since: deadline - this.waitMs, alarm: new AbortController() };
    const { signal } = waiter.alarm;
    this.waiters.add(waiter);
    await this.clock.sleep(Math.max(0, deadline - now), signal);
    this.waiters.delete(waiter);
    return signal.aborted ? (signal.reason as WaitEnd) : 'late';
  }

  /** Waits for {@link wake} without asking for anything. */
  watch(): Promise<void> {
    return new Promise((resolve) => this.watchers.add(resolve));
  }

  wake(): void {
    for (const { alarm } of this.waiters) alarm.abort('woken' satisfies WaitEnd);
    for (const resolve of this.watchers) resolve();
    this.waiters.clear();
    this.watchers.clear();
  }

  private displace(now: number): void {
    for (const waiter of this.waiters) {
      if (this.waiters.size < ROOM || now - waiter.since < PATIENCE_MS) return;
      this.waiters.delete(waiter);
      waiter.alarm.abort('displaced' satisfies WaitEnd);
    }
  }
}
