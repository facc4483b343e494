import { PASSING_TAGS } from '../world/database';

/** Right answers for a tag that is deleted, or paused. */
const CODES: readonly string[] = ['LEAF_TAG_NOT_FOUND', 'LEAF_TAG_PAUSED'];

/** Whether a refusal says only that `tag` comes and goes: no matter of availability. */
export function isOfPassingTag(tag: string | undefined, code: string): boolean {
  return PASSING_TAGS.some((name) => name === tag) && CODES.includes(code);
}
