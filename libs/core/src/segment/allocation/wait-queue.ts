import type { Clock } from '../../clock/clock';
import { afterLoopTime } from '../../util/deadline';

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
/** Wait after which an overloaded queue evicts a call, in milliseconds. */
const PATIENCE_MS = 10;

interface Waiter {
  readonly since: number;
  readonly count: number;
  /** Time at which the wait ends, and its outcome. */
  until: number;
  how: WaitEnd;
  readonly resolve: (end: WaitEnd) => void;
}

/**
 * The calls that wait for IDs of one tag, oldest first. Usually each waits up to its deadline: a load covers all calls
 * that wait for it. The queue is overloaded if it holds more than {@link ROOM} calls and no allocation has ended for half
 * of the wait limit. Then the newest calls are served after a short wait and older ones are refused early; otherwise
 * all calls would wait for almost their whole limit.
 *
 * One timer runs for all calls: a burst of calls must not cost a timer each.
 */
export class WaitQueue {
  /** Waiters ordered by `since`, and therefore by `until`. */
  private waiters: Waiter[] = [];
  private watchers: (() => void)[] = [];
  private overloadedUntil = -Infinity;
  /** Whether no allocation has ended for half of the wait limit. */
  private isLate = false;
  /** Set while the time to {@link isLate} runs. */
  private cancelLate: (() => void) | undefined;
  /** Runs until the first call is refused. */
  private alarm: { readonly at: number; readonly cancel: () => void } | undefined;
  private wanted = 0;

  constructor(
    private readonly clock: Clock,
    private readonly waitMs: number,
  ) {}

  /** Whether the queue is empty and not overloaded, so that it can be discarded. */
  get idle(): boolean {
    return !this.occupied && this.watchers.length === 0 && this.clock.monotonic() >= this.overloadedUntil;
  }

  /** Whether a call waits. */
  get occupied(): boolean {
    return this.waiters.length > 0;
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
    this.watchForLate();
    const isOverloaded = this.isOverloaded(now);
    return new Promise((resolve) => {
      if (this.waiters.length >= MAX_WAITING) {
        resolve('evicted');
        return;
      }
      const waiter: Waiter = { since: deadline - this.waitMs, count, until: deadline, how: 'late', resolve };
      if (isOverloaded) {
        this.limitWaits();
        limit(waiter);
      }
      this.add(waiter);
      this.setAlarm(now);
    });
  }

  /** Waits for {@link wake} without counting as a waiting call. */
  watch(): Promise<void> {
    return new Promise((resolve) => this.watchers.push(resolve));
  }

  /**
   * Call it when an allocation has ended.
   *
   * @returns number of IDs that the woken calls need
   */
  wake(): number {
    const { wanted, waiters, watchers } = this;
    this.isLate = false;
    this.cancelLate?.();
    this.cancelLate = undefined;
    this.waiters = [];
    this.watchers = [];
    this.wanted = 0;
    this.setAlarm(0);
    for (const { resolve } of waiters) resolve('woken');
    for (const resolve of watchers) resolve();
    return wanted;
  }

  /** A call that was woken and waits again comes before newer ones. */
  private add(waiter: Waiter): void {
    const place = this.waiters.findLastIndex(({ since }) => since <= waiter.since) + 1;
    if (place === this.waiters.length) this.waiters.push(waiter);
    else this.waiters.splice(place, 0, waiter);
    this.wanted += waiter.count;
  }

  /** Evicts the calls that wait, each once it has waited for {@link PATIENCE_MS}. */
  private limitWaits(): void {
    const limited = this.waiters.findLastIndex(({ how }) => how === 'evicted');
    this.waiters.slice(limited + 1).forEach(limit);
  }

  private setAlarm(now: number): void {
    const at = this.waiters[0]?.until;
    if (this.alarm !== undefined && this.alarm.at === at) return;
    this.alarm?.cancel();
    this.alarm = at === undefined ? undefined : { at, cancel: afterLoopTime(this.clock, at - now, this.expire) };
  }

  private readonly expire = (): void => {
    this.alarm = undefined;
    const now = this.clock.monotonic();
    const inTime = this.waiters.findIndex(({ until }) => until > now);
    for (const { count, how, resolve } of this.waiters.splice(0, inTime < 0 ? Infinity : inTime)) {
      this.wanted -= count;
      resolve(how);
    }
    this.setAlarm(now);
  };

  private watchForLate(): void {
    if (this.isLate || this.cancelLate !== undefined) return;
    this.cancelLate = afterLoopTime(this.clock, this.waitMs / 2, () => {
      this.isLate = true;
      this.cancelLate = undefined;
    });
  }

  private isOverloaded(now: number): boolean {
    if (this.waiters.length >= ROOM && this.isLate) this.overloadedUntil = now + OVERLOADED_MS;
    return now < this.overloadedUntil;
  }
}

function limit(waiter: Waiter): void {
  waiter.until = waiter.since + PATIENCE_MS;
  waiter.how = 'evicted';
}
