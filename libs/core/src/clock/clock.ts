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
  private readonly sleepersBySignal = new WeakMap<AbortSignal, Sleepers>();

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
      let leave = (): void => undefined;
      const wake = (): void => {
        cancel();
        leave();
        resolve();
      };
      const cancel = this.after(ms, wake);
      if (signal !== undefined) leave = this.joinSleepers(signal, wake);
    });
  }

  /** Blocks the calling thread for at most `ms` milliseconds (0 to 1) without using the CPU. */
  abstract pause(ms: number): void;

  /**
   * Calls `wake` when the signal aborts. A signal has one listener for all sleepers: to remove one of many takes a time
   * in proportion to their number. It has none without sleepers: Node.js keeps a signal of `AbortSignal.any` in memory as
   * long as it has a listener.
   *
   * @returns undoes this
   */
  private joinSleepers(signal: AbortSignal, wake: () => void): () => void {
    let sleepers = this.sleepersBySignal.get(signal);
    if (sleepers === undefined) {
      const all = new Set<() => void>();
      sleepers = { all, wakeAll: () => all.forEach((each) => each()) };
      this.sleepersBySignal.set(signal, sleepers);
      signal.addEventListener('abort', sleepers.wakeAll);
    }
    const { all, wakeAll } = sleepers;
    all.add(wake);
    return () => {
      all.delete(wake);
      if (all.size > 0) return;
      this.sleepersBySignal.delete(signal);
      signal.removeEventListener('abort', wakeAll);
    };
  }
}

interface Sleepers {
  readonly all: Set<() => void>;
  readonly wakeAll: () => void;
}

/** The clock of the host. */
export class SystemClock extends Clock {
  private readonly never = new Int32Array(new SharedArrayBuffer(4));

  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return performance.now();
  }

  /**
   * Without a time, in the next turn of the event loop. Timers of 1 ms, which Node.js makes of 0, run in the same turn
   * as long as each takes longer than that.
   */
  after(ms: number, act: () => void): () => void {
    if (ms <= 0) {
      const turn = setImmediate(act);
      return () => clearImmediate(turn);
    }
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  }

  override every(ms: number, act: () => void): Interval {
    const timer = setInterval(act, ms);
    return { timer, cancel: () => clearInterval(timer) };
  }

  pause(ms: number): void {
    Atomics.wait(this.never, 0, 0, ms);
  }
}
