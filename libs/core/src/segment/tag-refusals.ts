import { LeafError } from '../errors/leaf-error';

export function unknownTag(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_NOT_FOUND',
    `There is no tag "${tag}". Create its row in leaf_alloc first; it is found within a second.`,
  );
}

export function pausedTag(tag: string, retryAfterMs: number): LeafError {
  return new LeafError(
    'LEAF_TAG_PAUSED',
    `Tag "${tag}" is paused on this server: ask another one, or wait until it is resumed.`,
    { retryAfterMs },
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
