import { NO_SEGMENT } from '../faults/fault';
import { PASSING_TAGS } from '../world/database';

/** Right answers for a tag that is deleted, or paused. */
const GONE: readonly string[] = ['LEAF_TAG_NOT_FOUND', 'LEAF_TAG_PAUSED'];
const NOTHING_BUFFERED: readonly string[] = [...NO_SEGMENT, 'LEAF_SERVERS_UNAVAILABLE'];

/** Whether it is deleted and created again all the time: its calls say nothing of the availability. */
export function isPassing(tag: string | undefined): boolean {
  return PASSING_TAGS.some((name) => name === tag);
}

/** Whether a refusal says only that `tag` comes and goes. */
export function isGone(tag: string | undefined, code: string): boolean {
  return isPassing(tag) && GONE.includes(code);
}

/**
 * Whether a refusal comes of a tag that was just created while a fault lasts, whichever it is: nothing of it is buffered
 * yet, and a change that the fault holds up may have its row.
 */
export function isBare(tag: string | undefined, code: string): boolean {
  return isPassing(tag) && NOTHING_BUFFERED.includes(code);
}
