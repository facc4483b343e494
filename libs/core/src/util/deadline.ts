import type { Clock } from '../clock/clock';

/**
 * Waits for `promise` until `deadline` (monotonic milliseconds), and longer if the event loop was blocked meanwhile: see
 * {@link afterLoopTime}.
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
      cancel = afterLoopTime(clock, left, () => resolve(false));
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

/** Parts of a wait of {@link afterLoopTime}. */
const PARTS = 10;

/**
 * As `clock.after`, but counts only time in which the event loop turns: if it is blocked, or the process gets no
 * processor, for longer than a tenth of `ms`, that counts as a tenth. Replies that have arrived are processed before
 * `act`.
 *
 * @returns cancels the call
 */
export function afterLoopTime(clock: Clock, ms: number, act: () => void): () => void {
  const part = Math.ceil(ms / PARTS);
  let left = Math.max(0, ms);
  let cancel = (): void => undefined;
  const next = (): void => {
    // The last part is empty: timers run before replies, so the event loop has to turn once more.
    const isLast = left === 0;
    const wait = Math.min(part, left);
    left -= wait;
    cancel = clock.after(wait, isLast ? act : next);
  };
  next();
  return () => cancel();
}
