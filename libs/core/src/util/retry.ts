import type { Clock } from '../clock/clock';
import type { RandomSource } from './random';

export interface BackoffOptions {
  /** Wait after the first failure, in milliseconds. */
  readonly firstMs: number;
  /** Longest wait, in milliseconds. */
  readonly maxMs: number;
}

/**
 * Exponential back-off with equal jitter: the wait is random between half and all of the doubled wait, so that callers
 * that failed together do not retry together.
 *
 * @param attempt failures so far, from 1
 */
export function backoffMs(attempt: number, { firstMs, maxMs }: BackoffOptions, random: RandomSource): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 30));
  return full / 2 + random(Math.floor(full / 2) + 1);
}

export interface RetryOptions extends BackoffOptions {
  /** Maximum number of attempts, 1 or more. */
  readonly attempts: number;
  /** Returns false for errors that another attempt cannot fix. */
  readonly isRetryable: (error: unknown) => boolean;
  /** Called for each failure that is retried. */
  readonly onRetry?: (error: unknown, attempt: number, waitMs: number) => void;
  readonly signal?: AbortSignal;
}

/** Runs `action` until it succeeds, fails with a non-retryable error, the attempts are used up or `signal` aborts. */
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
