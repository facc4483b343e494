import type { Clock } from './clock/clock';
import type { RandomSource } from './random';

export interface BackoffOptions {
  /** Wait after the first failure, in milliseconds. */
  readonly firstMs: number;
  /** No wait is longer, in milliseconds. */
  readonly maxMs: number;
}

/**
 * Exponential back-off with equal jitter: between half of and the whole doubled wait, so that many that failed together
 * do not come back together.
 *
 * @param attempt failures so far, from 1
 */
export function backoffMs(attempt: number, { firstMs, maxMs }: BackoffOptions, random: RandomSource): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 30));
  return full / 2 + random(Math.floor(full / 2) + 1);
}

export interface RetryOptions extends BackoffOptions {
  /** Tries in all, from 1. */
  readonly attempts: number;
  /** Answers false for an error that no further try can mend. */
  readonly isRetryable: (error: unknown) => boolean;
  /** Told of each failure that will be tried again. */
  readonly onRetry?: (error: unknown, attempt: number, waitMs: number) => void;
  readonly signal?: AbortSignal;
}

/** Runs `action` until it succeeds, its error is not retryable, the tries are used up or `signal` aborts. */
export async function retry<T>(
  action: (attempt: number) => Promise<T>,
  options: RetryOptions,
  clock: Clock,
  random: RandomSource,
): Promise<T> {
  let attempt = 0;
  for (;;) {
    attempt++;
    try {
      return await action(attempt);
    } catch (error) {
      if (attempt >= options.attempts || options.signal?.aborted || !options.isRetryable(error)) throw error;
      const waitMs = backoffMs(attempt, options, random);
      options.onRetry?.(error, attempt, waitMs);
      await clock.sleep(waitMs, options.signal);
      if (options.signal?.aborted) throw error;
    }
  }
}
