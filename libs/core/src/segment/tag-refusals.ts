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
