import { forEachParallel } from '../parallel';
import type { IdRange } from './id-range';
import type { SegmentStore } from './segment-store';

/** What a tag has left when its generator closes, newest range first. */
export interface TagRest {
  readonly tag: string;
  readonly ranges: Promise<readonly IdRange[]>;
}

/** Give-backs under way at once. */
const WIDTH = 8;

/**
 * Gives back what the tags have left. Nothing is under way when it settles.
 *
 * @throws LeafError `LEAF_STORE_UNAVAILABLE` when the store fails; what was not given back stays a gap
 */
export async function giveBackAll(store: SegmentStore, rests: readonly TagRest[]): Promise<void> {
  try {
    await forEachParallel(rests, WIDTH, async ({ tag, ranges }) => giveBack(store, tag, await ranges));
  } finally {
    await Promise.all(rests.map(({ ranges }) => ranges));
  }
}

/** Each range moves the row down to where the next one ends. */
async function giveBack(store: SegmentStore, tag: string, ranges: readonly IdRange[]): Promise<void> {
  for (const range of ranges) if (!(await store.giveBack(tag, range))) return;
}
