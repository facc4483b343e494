import type { Clock } from '../clock/clock';
import type { RandomSource } from './random';
import type { LeafError } from '../errors/leaf-error';

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

/** How long a refusal that another attempt cannot change, such as that of a deleted row, is kept, in milliseconds. */
const REFUSAL_MS = 1000;

/** The newest refusal of a source of IDs. While it is recent, calls get it at once, without a request of their own. */
export class RecentRefusal {
  private newest: LeafError | undefined = undefined;
  private until = -Infinity;

  constructor(private readonly clock: Clock) {}

  /** @param error undefined if only loads that nobody waits for have to pause */
  keep(error: LeafError | undefined): void {
    this.newest = error;
    this.until = this.clock.monotonic() + REFUSAL_MS;
  }

  /** After an answer: nothing is refused any more. */
  forget(): void {
    this.newest = undefined;
  }

  get isRecent(): boolean {
    return this.clock.monotonic() < this.until;
  }

  /** The refusal, also when it is not recent; undefined after an answer. */
  get error(): LeafError | undefined {
    return this.newest;
  }

  /** @throws LeafError the refusal while it is recent */
  assertNone(): void {
    if (this.newest !== undefined && this.isRecent) throw this.newest;
  }
}
