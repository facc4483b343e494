import { LeafError } from '../errors/leaf-error';

export function unknownTag(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_NOT_FOUND',
    `There is no tag "${tag}". Create it with POST /api/tags or in the web console of leaf-server, in the tags of IdModule, or as a row of leaf_alloc; it is found within a second.`,
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
  return new LeafError('LEAF_NOT_READY', 'This server is stopping. Use another server.', { retryAfterMs: 1000 });
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

export function tagWithoutPeriods(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_NOT_PERIODIC',
    `Tag "${tag}" has no periods. Use GET /api/segment/get/${tag}, or nextId of IdService and LeafClient.`,
  );
}
