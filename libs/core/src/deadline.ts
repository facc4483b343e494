import type { Clock } from './clock/clock';

/**
 * Waits for `promise`, but not past `deadline` (monotonic milliseconds).
 *
 * @returns true when the promise was fulfilled in time, false when the deadline came first
 * @throws what the promise was rejected with, when that came first
 */
export async function withinDeadline(promise: Promise<unknown>, deadline: number, clock: Clock): Promise<boolean> {
  const left = deadline - clock.monotonic();
  if (left <= 0) {
    promise.catch(() => undefined);
    return false;
  }
  const alarm = new AbortController();
  try {
    return await Promise.race([promise.then(() => true), clock.sleep(left, alarm.signal).then(() => false)]);
  } finally {
    alarm.abort(null);
  }
}
