import { LeafError } from '../errors/leaf-error';

export function unknownTag(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_NOT_FOUND',
    `There is no tag "${tag}". Create its row in leaf_alloc first; it is found within a second.`,
  );
}

/** When to ask for a paused tag again; nobody knows how long the pause lasts. */
const PAUSED_RETRY_MS = 5000;

export function pausedTag(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_PAUSED',
    `Tag "${tag}" is paused on this server: ask another one, or wait until it is resumed.`,
    { retryAfterMs: PAUSED_RETRY_MS },
  );
}

export function stopping(): LeafError {
  return new LeafError('LEAF_NOT_READY', 'This server is stopping: ask another one.', { retryAfterMs: 1000 });
}

export function invalidRow(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_ROW_INVALID',
    `The settings in the row of tag "${tag}" in leaf_alloc cannot be used. Set its columns as docs/operations.md says.`,
  );
}

export function replacedTag(tag: string): LeafError {
  return new LeafError(
    'LEAF_STORE_UNAVAILABLE',
    `The row of tag "${tag}" was replaced by one with another order; ask again.`,
    { retryAfterMs: 1000 },
  );
}

export function periodicTag(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_PERIODIC',
    `Tag "${tag}" begins anew with each period, so that a number alone is not unique. Use GET /api/segment/period/${tag}, or nextInPeriod of IdService and LeafClient, and keep the period with the number.`,
  );
}

export function tagWithoutPeriods(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_NOT_PERIODIC',
    `Tag "${tag}" does not begin anew: its IDs have no period. Use GET /api/segment/get/${tag}, or nextId of IdService and LeafClient.`,
  );
}
