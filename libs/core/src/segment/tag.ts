import { LeafError } from '../errors/leaf-error';

/** Characters of a tag, and of a row, at most. */
export const MAX_TAG = 128;
/** What a tag looks like. */
export const TAG_PATTERN = /^[A-Za-z0-9._:-]{1,128}$/;

export function isTag(text: string): boolean {
  return TAG_PATTERN.test(text);
}

/** @throws LeafError `LEAF_TAG_INVALID` */
export function assertTag(text: string): void {
  if (isTag(text)) return;
  const shown = JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  throw new LeafError('LEAF_TAG_INVALID', `${shown} is no tag: use 1 to 128 letters, digits, "-", "_", "." or ":".`);
}
