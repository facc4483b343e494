/**
 * The only source of time in Leaf.
 *
 * A caller may not assume that `now()` ascends: operators and NTP step wall clocks, both ways. It may not assume that
 * `now()` and `monotonic()` run at one speed, nor that a sleep ends on time: a suspended process oversleeps by hours.
 */
export abstract class Clock {
  /** Wall clock in whole Unix milliseconds. */
  abstract now(): number;

  /** Milliseconds since an arbitrary moment, with fractions; never falls while the process lives. */
  abstract monotonic(): number;

  /** Resolves after `ms` milliseconds, or at once when `signal` aborts. Never rejects. */
  abstract sleep(ms: number, signal?: AbortSignal): Promise<void>;

  /** Suspends the calling thread for at most `ms` milliseconds (0 to 1) without using the processor. */
  abstract pause(ms: number): void;
}
