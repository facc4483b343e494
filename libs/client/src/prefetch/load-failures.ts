import { LeafError } from '@leaf-ids/core';

/** Between the tries of a load. */
export const BACKOFF = { firstMs: 25, maxMs: 1000 };
/** Of failures in a row, every so many are told. */
export const REPORT_EVERY = 100;

/** Whether the same request may succeed later. */
export function isPassing(error: unknown): boolean {
  return error instanceof LeafError && error.retryable;
}

/** What callers are told when a load was refused for good. */
export function asRefusal(name: string, error: unknown): LeafError {
  if (error instanceof LeafError) return error;
  return new LeafError('LEAF_INTERNAL', `Fetching ${name} failed in the client itself.`, { cause: error });
}

/** What a caller is told that waited too long: what the servers said last, if they said anything. */
export function tooLate(name: string, timeoutMs: number, cause: unknown): LeafError {
  if (cause instanceof LeafError) return cause;
  return new LeafError(
    'LEAF_SERVERS_UNAVAILABLE',
    `No Leaf server has answered for ${name} within ${timeoutMs} ms. It is tried again by itself; timeoutMs is the limit of a call.`,
    { cause, retryAfterMs: 1000 },
  );
}
