import { LeafError } from '../errors/leaf-error';

/** @param cause what the store said last, if it said anything */
export function segmentUnavailable(tag: string, waitMs: number, cause: unknown): LeafError {
  return new LeafError(
    'LEAF_SEGMENT_UNAVAILABLE',
    `No ID of tag "${tag}" could be had within ${waitMs} ms: its segments are used up and the database has not given a new one. It goes on by itself when the database answers; larger steps last longer.`,
    { cause, retryAfterMs: 1000 },
  );
}

export function tooManyWaiting(tag: string): LeafError {
  return new LeafError(
    'LEAF_OVERLOADED',
    `Far more IDs of tag "${tag}" are asked for than the database gives in time, and newer calls go first. Come back later; larger steps last longer.`,
    { retryAfterMs: 1000 },
  );
}

/** @param cause what the store said last, if it said anything */
export function strictUnavailable(tag: string, waitMs: number, cause: unknown): LeafError {
  return new LeafError(
    'LEAF_SEGMENT_UNAVAILABLE',
    `No ID of the strict tag "${tag}" could be had within ${waitMs} ms: each one needs an answer of the database, and it has not given one. It goes on by itself when the database answers.`,
    { cause, retryAfterMs: 1000 },
  );
}

export function tooManyStrict(tag: string, places: number): LeafError {
  return new LeafError(
    'LEAF_OVERLOADED',
    `${places} calls wait for IDs of the strict tag "${tag}" already. Come back later; the database is slow, or away.`,
    { retryAfterMs: 1000 },
  );
}
