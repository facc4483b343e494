import { type IdRange, sizeOf } from './id-range';

/** A call that waits until `count` IDs are loaded behind the buffered ones. */
export interface PendingTake {
  readonly count: number;
  readonly consecutive: boolean;
  /** Ranges that are loaded and not yet buffered. */
  readonly loaded: IdRange[];
  /** The caller has timed out: loaded ranges stay in the buffer. */
  abandoned: boolean;
  done: boolean;
}

/** Allocates `pending.count` IDs, with several allocations if the store returns fewer than requested. */
export async function loadFor(pending: PendingTake, allocate: (size: number) => Promise<IdRange>): Promise<void> {
  let missing = pending.count;
  while (missing > 0 && (pending.loaded.length === 0 || !pending.abandoned)) {
    const range = await allocate(missing);
    pending.loaded.push(range);
    missing -= sizeOf(range);
  }
}
