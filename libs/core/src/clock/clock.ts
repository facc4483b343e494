/**
 * The only source of time in Leaf.
 *
 * Callers must not assume that `now()` ascends: operators and NTP step wall clocks in both directions. They must not
 * assume that `now()` and `monotonic()` run at the same rate, or that a sleep ends on time: a suspended process may
 * oversleep by hours.
 */
export abstract class Clock {
  /** Wall clock in whole Unix milliseconds. */
  abstract now(): number;

  /** Milliseconds since an arbitrary moment, with fractions. Never decreases within a process. */
  abstract monotonic(): number;

  /** Resolves after `ms` milliseconds, or immediately when `signal` aborts. Never rejects. */
  abstract sleep(ms: number, signal?: AbortSignal): Promise<void>;

  /** Blocks the calling thread for at most `ms` milliseconds (0 to 1) without using the CPU. */
  abstract pause(ms: number): void;
}
