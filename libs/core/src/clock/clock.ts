/** What {@link Clock.every} has begun. */
export interface Interval {
  cancel(): void;
  /** The timer of Node.js, if the clock uses one. */
  readonly timer?: NodeJS.Timeout;
}

/**
 * The only source of time in Leaf.
 *
 * Callers must not assume that `now()` ascends: operators and NTP step wall clocks in both directions. They must not
 * assume that `now()` and `monotonic()` run at the same rate, or that a sleep ends on time: a suspended process may
 * oversleep by hours.
 */
export abstract class Clock {
  /** What an abort of each signal ends. */
  private readonly sleepersBySignal = new WeakMap<AbortSignal, Set<() => void>>();

  /** Wall clock in whole Unix milliseconds. */
  abstract now(): number;

  /** Milliseconds since an arbitrary moment, with fractions. Never decreases within a process. */
  abstract monotonic(): number;

  /**
   * Calls `act` once, after `ms` milliseconds.
   *
   * @returns cancels the call
   */
  abstract after(ms: number, act: () => void): () => void;

  /** Calls `act` every `ms` milliseconds. */
  every(ms: number, act: () => void): Interval {
    let cancel = (): void => undefined;
    const begin = (): void => {
      cancel = this.after(ms, () => {
        begin();
        act();
      });
    };
    begin();
    return { cancel: () => cancel() };
  }

  /** Resolves after `ms` milliseconds, or immediately when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const sleepers = signal && this.sleepersOf(signal);
      const wake = (): void => {
        cancel();
        sleepers?.delete(wake);
        resolve();
      };
      const cancel = this.after(ms, wake);
      sleepers?.add(wake);
    });
  }

  /** Blocks the calling thread for at most `ms` milliseconds (0 to 1) without using the CPU. */
  abstract pause(ms: number): void;

  /** A signal has one listener for all sleepers: to remove one of many takes a time in proportion to their number. */
  private sleepersOf(signal: AbortSignal): Set<() => void> {
    let sleepers = this.sleepersBySignal.get(signal);
    if (sleepers === undefined) {
      const added = new Set<() => void>();
      this.sleepersBySignal.set(signal, added);
      signal.addEventListener('abort', () => added.forEach((wake) => wake()), { once: true });
      sleepers = added;
    }
    return sleepers;
  }
}
