import { type IdRange, sizeOf } from './id-range';

/** A call that waits until as many IDs as it wants are loaded behind what is buffered. */
export interface PendingTake {
  readonly count: number;
  /** What was loaded and is not buffered yet. */
  readonly loaded: IdRange[];
  /** The caller is gone: what is loaded stays in the buffer. */
  abandoned: boolean;
  done: boolean;
}

/** By several allocations where the store gives less than it is asked for. */
export async function loadFor(pending: PendingTake, allocate: (size: number) => Promise<IdRange>): Promise<void> {
  let missing = pending.count;
  while (missing > 0 && (pending.loaded.length === 0 || !pending.abandoned)) {
    const range = await allocate(missing);
    pending.loaded.push(range);
    missing -= sizeOf(range);
  }
}
