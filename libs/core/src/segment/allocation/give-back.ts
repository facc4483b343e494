import { forEachParallel } from '../../util/for-each';
import { type IdRange, sizeOf } from '../tags/id-range';
import type { SegmentStore } from '../tags/segment-store';

/** The unissued ranges of a tag when its generator closes, newest first. */
export interface TagRest {
  readonly tag: string;
  readonly ranges: Promise<readonly IdRange[]>;
}

/** Concurrent give-backs. */
const WIDTH = 8;

/**
 * Returns unissued ranges to the store, and resolves with the number of IDs. No call to the store is in progress when it
 * settles.
 *
 * @throws LeafError `LEAF_STORE_UNAVAILABLE` when the store fails; ranges that were not returned become gaps
 */
export async function giveBackAll(store: SegmentStore, rests: readonly TagRest[]): Promise<number> {
  let returned = 0;
  try {
    await forEachParallel(rests, WIDTH, async ({ tag, ranges }) => {
      const ids = await giveBack(store, tag, await ranges);
      returned += ids;
    });
    return returned;
  } finally {
    await Promise.all(rests.map(({ ranges }) => ranges));
  }
}

/** Newest first: each call lowers the row to the end of the next range. */
async function giveBack(store: SegmentStore, tag: string, ranges: readonly IdRange[]): Promise<number> {
  let returned = 0;
  for (const range of ranges) {
    if (!(await store.giveBack(tag, range))) break;
    returned += sizeOf(range);
  }
  return returned;
}
