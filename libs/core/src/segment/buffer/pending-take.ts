import type { Clock } from '../../clock/clock';
import { type IdRange, sizeOf } from '../tags/id-range';
import { MAX_BLOCKS } from '../tags/segment-store';

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
 * Allocates `pending.count` IDs, with several allocations if the store returns fewer than requested. Yields to the event
 * loop between them, also if the store never does. Stops at a gap between two ranges if the IDs must be consecutive: the
 * store then allocates blocks, and more of them cannot help.
 *
 * @returns false if the IDs would be more than {@link MAX_BLOCKS} ranges
 */
export async function loadFor(
  pending: PendingTake,
  allocate: (size: number) => Promise<IdRange[]>,
  clock: Clock,
): Promise<boolean> {
  const { consecutive, loaded } = pending;
  let missing = pending.count;
  for (;;) {
    const ranges = await allocate(missing);
    for (const range of ranges) {
      const before = loaded.at(-1);
      loaded.push(range);
      missing -= sizeOf(range);
      if (consecutive && before !== undefined && range.from !== before.to + 1n) missing = 0;
    }
    const [first] = ranges;
    if (missing <= 0 || first === undefined) return true;
    if (loaded.length + missing / sizeOf(first) > MAX_BLOCKS) return false;
    await clock.sleep(0);
    if (pending.abandoned) return true;
  }
}
