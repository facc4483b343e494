import { type IdRange, sizeOf } from './id-range';

/** A call that waits until `count` IDs are loaded behind the buffered ones. */
export interface PendingTake {
  readonly count: number;
  readonly consecutive: boolean;
  /** Ranges that are loaded and not yet buffered. */
  readonly loaded: IdRange[];
  /** The caller has timed out. */
  abandoned: boolean;
  done: boolean;
}

/**
 * Allocates `pending.count` IDs, with several allocations if the store returns fewer than requested. Stops at a gap
 * between two ranges if the IDs must be consecutive: the store then allocates blocks, and more of them cannot help.
 */
export async function loadFor(pending: PendingTake, allocate: (size: number) => Promise<IdRange>): Promise<void> {
  const { consecutive, loaded } = pending;
  let missing = pending.count;
  while (missing > 0 && (loaded.length === 0 || !pending.abandoned)) {
    const before = loaded.at(-1);
    const range = await allocate(missing);
    loaded.push(range);
    missing -= sizeOf(range);
    if (consecutive && before !== undefined && range.from !== before.to + 1n) return;
  }
}
