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

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal?.addEventListener('abort', wake);
    });
  }

  pause(ms: number): void {
    Atomics.wait(this.never, 0, 0, ms);
  }
}
