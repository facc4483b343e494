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

  after(ms: number, act: () => void): () => void {
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
