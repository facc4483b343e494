import { LeafError } from '../errors/leaf-error';
import { MAX_BLOCKS } from './segment-store';

/** @param cause latest error of the store, if any */
export function segmentUnavailable(tag: string, waitMs: number, cause: unknown): LeafError {
  return new LeafError(
    'LEAF_SEGMENT_UNAVAILABLE',
    `Tag "${tag}" has no ID after ${waitMs} ms: its segments are used up, and the database has not allocated a new one. It resumes automatically when the database responds. Check the database; a larger step bridges longer outages.`,
    { cause, retryAfterMs: 1000 },
  );
}

export function tooManyWaiting(tag: string): LeafError {
  return new LeafError(
    'LEAF_OVERLOADED',
    `Too many calls wait for IDs of tag "${tag}". Retry later; check whether the database is slow or down.`,
    { retryAfterMs: 1000 },
  );
}

/** @param cause latest error of the store, if any */
export function strictUnavailable(tag: string, waitMs: number, cause: unknown): LeafError {
  return new LeafError(
    'LEAF_SEGMENT_UNAVAILABLE',
    `Strict tag "${tag}" has no ID after ${waitMs} ms: each ID needs a reply from the database, which has not responded. It resumes automatically when the database responds. Check the database.`,
    { cause, retryAfterMs: 1000 },
  );
}

export function tooManyBlocks(tag: string, count: number): LeafError {
  return new LeafError(
    'LEAF_SIZE_INVALID',
    `${count} IDs of tag "${tag}" are too many for one call: it is interleaved in small blocks, and a call takes at most ${MAX_BLOCKS} of them. Request fewer IDs.`,
  );
}

export function notConsecutive(tag: string, count: number): LeafError {
  return new LeafError(
    'LEAF_SIZE_INVALID',
    `Tag "${tag}" has no ${count} consecutive IDs: several databases allocate its IDs in smaller blocks. Request fewer, or request ranges.`,
  );
}
