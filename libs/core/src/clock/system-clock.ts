import { Clock, type Interval } from './clock';

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
