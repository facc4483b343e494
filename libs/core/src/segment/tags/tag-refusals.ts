import { LeafError } from '../../errors/leaf-error';
import { MAX_BLOCKS } from './segment-store';

export function unknownTag(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_NOT_FOUND',
    `Tag "${tag}" does not exist. Create it with POST /api/tags or in the web console of leaf-server, in the tags of IdModule, or as a row of leaf_alloc; it is found within a second.`,
  );
}

/** `Retry-After` of a paused tag, in milliseconds; the end of the pause is not known. */
const PAUSED_RETRY_MS = 5000;

export function pausedTag(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_PAUSED',
    `Tag "${tag}" is paused on this server. Use another server, or resume the tag.`,
    { retryAfterMs: PAUSED_RETRY_MS },
  );
}

export function stopping(): LeafError {
  return new LeafError('LEAF_NOT_READY', 'Leaf is stopping. Use another server.', { retryAfterMs: 1000 });
}

export function invalidRow(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_ROW_INVALID',
    `The row of tag "${tag}" in leaf_alloc has invalid settings. Correct its columns: docs/tags.md.`,
  );
}

export function replacedTag(tag: string): LeafError {
  return new LeafError(
    'LEAF_STORE_UNAVAILABLE',
    `The row of tag "${tag}" was deleted and inserted again with a different order or period. Retry.`,
    { retryAfterMs: 1000 },
  );
}

export function periodicTag(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_PERIODIC',
    `Tag "${tag}" restarts with each period, so a number alone is not unique. Use GET /api/segment/period/${tag}, or nextInPeriod of IdService and LeafClient, and store the period with the number.`,
  );
}

export function gaplessTag(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_GAPLESS',
    `Tag "${tag}" is gapless: its numbers are given to documents by their keys. Use PUT /api/numbers/${tag}/<key>.`,
  );
}

export function tagWithoutPeriods(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_NOT_PERIODIC',
    `Tag "${tag}" has no periods. Use GET /api/segment/get/${tag}, or nextId of IdService and LeafClient.`,
  );
}

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
