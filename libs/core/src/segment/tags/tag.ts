import { LeafError } from '../../errors/leaf-error';
import { accepted, both, text } from '../../util/options';

/** Maximum length of a tag and of a row name, in characters. */
export const MAX_TAG = 128;
/** `.` and `..` are not tags: clients and proxies resolve them as path segments. */
export const TAG_PATTERN =
  /^(?:[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,127}|\.[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,126}|\.\.[A-Za-z0-9._:-]{1,126})$/;

/** {@link TAG_PATTERN} in words, without a full stop. */
export const TAG_RULE = `1 to ${MAX_TAG} letters, digits, "-", "_", "." or ":", but not "." or ".."`;

export function isTag(text: string): boolean {
  return TAG_PATTERN.test(text);
}

/** @throws LeafError `LEAF_TAG_INVALID` */
export function assertTag(text: string): void {
  if (isTag(text)) return;
  const shown = JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  throw new LeafError('LEAF_TAG_INVALID', `${shown} is not a valid tag; use ${TAG_RULE}.`);
}

/** Rule for an option that is the name of a tag. */
export const tagRule = both(text, accepted(assertTag));
