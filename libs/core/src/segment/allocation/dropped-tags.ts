import { forEachParallel } from '../../util/for-each';
import type { SegmentStore } from '../tags/segment-store';

/** Concurrent writes to the store. */
const WIDTH = 4;

/**
 * The highest IDs of dropped tags. An operator may insert such a row again, starting at 1, so each value is recorded in
 * the store, where it keeps every server from issuing those IDs again. This process keeps a value in memory until the
 * store has recorded it.
 */
export class DroppedTags {
  private readonly highest = new Map<string, bigint>();

  constructor(private readonly store: SegmentStore) {}

  add(tag: string, highest: bigint): void {
    if (highest > this.highestOf(tag)) this.highest.set(tag, highest);
  }

  /** The highest ID of a tag known to be taken; 0 if none is. */
  highestOf(tag: string): bigint {
    return this.highest.get(tag) ?? 0n;
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE`; the next call records the remaining values */
  async record(): Promise<void> {
    await forEachParallel([...this.highest], WIDTH, async ([tag, highest]) => {
      await this.store.recordDeleted(tag, highest + 1n);
      if (this.highestOf(tag) === highest) this.highest.delete(tag);
    });
  }
}
