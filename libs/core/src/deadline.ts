import type { Clock } from './clock/clock';

/**
 * Waits for `promise` until `deadline` (monotonic milliseconds).
 *
 * @returns true when the promise was fulfilled in time, false when the deadline passed first
 * @throws the rejection of the promise, if it rejects before the deadline
 */
export async function withinDeadline(promise: Promise<unknown>, deadline: number, clock: Clock): Promise<boolean> {
  const left = deadline - clock.monotonic();
  if (left <= 0) {
    promise.catch(() => undefined);
    return false;
  }
  let cancel = (): void => undefined;
  try {
    return await new Promise((resolve, reject) => {
      cancel = clock.after(left, () => resolve(false));
      promise.then(() => resolve(true), reject);
    });
  } finally {
    cancel();
  }
}

/**
 * Waits for `promise` until `signal` aborts; how it settles later is ignored.
 *
 * @throws the reason of the signal, or what the promise was rejected with
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  promise.catch(() => undefined);
  signal.throwIfAborted();
  const ended = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true, signal: ended.signal });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    ended.abort();
  }
}
