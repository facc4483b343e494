import { reasonOf } from '@leaf-ids/core/internal';
import { LeafError } from '@leaf-ids/core';

/** Backoff between the attempts of a load. */
export const BACKOFF = { firstMs: 25, maxMs: 1000 };
/** One in this many consecutive failures is reported. */
const REPORT_EVERY = 100;

/** Whether a retry may succeed. */
export function isPassing(error: unknown): boolean {
  return error instanceof LeafError && error.retryable;
}

/** The error for callers when a load was refused permanently. */
export function asRefusal(name: string, error: unknown): LeafError {
  if (error instanceof LeafError) return error;
  return new LeafError('LEAF_INTERNAL', `Fetching IDs of ${name} failed because of an error in the client.`, {
    cause: error,
  });
}

/** The error for a caller that timed out: the last refusal of the servers, if any. */
export function tooLate(name: string, timeoutMs: number, cause: unknown): LeafError {
  if (cause instanceof LeafError) return cause;
  return new LeafError(
    'LEAF_SERVERS_UNAVAILABLE',
    `No Leaf server returned IDs of ${name} within ${timeoutMs} ms (timeoutMs). The client retries by itself; check that the servers are up and reachable.`,
    { cause, retryAfterMs: 1000 },
  );
}

export interface LoadView {
  readonly loads: number;
  /** Attempts that failed. */
  readonly failures: number;
  readonly lastLoadMs: number | undefined;
  /** Message of the newest failure, until a load succeeds. */
  readonly lastError: string | undefined;
}

/** Statistics of the loads of one buffer. */
export class LoadRecord {
  loads = 0;
  failuresInRow = 0;
  lastError: unknown;
  private failures = 0;
  private lastLoadMs: number | undefined;

  /** The servers have responded. */
  answered(): void {
    this.failuresInRow = 0;
    this.lastError = undefined;
  }

  loaded(durationMs: number): void {
    this.loads++;
    this.lastLoadMs = durationMs;
  }

  /** @returns whether to report the failure: the first of a series, and every {@link REPORT_EVERY}th */
  failed(error: unknown): boolean {
    this.failures++;
    this.lastError = error;
    return this.failuresInRow++ % REPORT_EVERY === 0;
  }

  get view(): LoadView {
    const { loads, failures, lastLoadMs, lastError } = this;
    return { loads, failures, lastLoadMs, lastError: lastError === undefined ? undefined : reasonOf(lastError) };
  }
}
