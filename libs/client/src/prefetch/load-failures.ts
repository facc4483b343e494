import { LeafError } from '@leaf-ids/core';

/** Backoff between the attempts of a load. */
export const BACKOFF = { firstMs: 25, maxMs: 1000 };
/** One in this many consecutive failures is reported. */
export const REPORT_EVERY = 100;

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
