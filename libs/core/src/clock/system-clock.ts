import { Clock } from './clock';

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

  pause(ms: number): void {
    Atomics.wait(this.never, 0, 0, ms);
  }
}
