import { forEachParallel } from '../parallel';
import type { SegmentStore } from './segment-store';

/** Records under way at once. */
const WIDTH = 4;

/**
 * How far dropped tags had come. Their rows may be inserted again by hand, at 1: the store is told of each, so that no
 * server gives the IDs again, and until it has recorded them this process remembers. Holds no more than the tags that
 * were dropped since the store answered last.
 */
export class DroppedTags {
  private readonly highest = new Map<string, bigint>();

  constructor(private readonly store: SegmentStore) {}

  add(tag: string, highest: bigint): void {
    if (highest > this.highestOf(tag)) this.highest.set(tag, highest);
  }

  /** The highest ID that is known to be taken of a tag; 0 when none is. */
  highestOf(tag: string): bigint {
    return this.highest.get(tag) ?? 0n;
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE`; what was not recorded is recorded by the next call */
  async record(): Promise<void> {
    await forEachParallel([...this.highest], WIDTH, async ([tag, highest]) => {
      await this.store.recordDeleted(tag, highest + 1n);
      if (this.highestOf(tag) === highest) this.highest.delete(tag);
    });
  }
}
