import { LeafError } from '../errors/leaf-error';

/** Maximum length of a tag and of a row name, in characters. */
export const MAX_TAG = 128;
export const TAG_PATTERN = /^[A-Za-z0-9._:-]{1,128}$/;

export function isTag(text: string): boolean {
  return TAG_PATTERN.test(text);
}

/** @throws LeafError `LEAF_TAG_INVALID` */
export function assertTag(text: string): void {
  if (isTag(text)) return;
  const shown = JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  throw new LeafError(
    'LEAF_TAG_INVALID',
    `${shown} is not a valid tag; use 1 to 128 letters, digits, "-", "_", "." or ":".`,
  );
}
