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
  const alarm = new AbortController();
  try {
    return await Promise.race([promise.then(() => true), clock.sleep(left, alarm.signal).then(() => false)]);
  } finally {
    alarm.abort(null);
  }
}
