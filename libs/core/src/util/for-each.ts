import type { Clock } from '../clock/clock';

/**
 * Calls `act` with each item, in order, with at most `width` calls in flight. Each failure lowers the width by one.
 * Settles when no call is in flight; rejects with the first failure.
 */
export async function forEachParallel<T>(
  items: Iterable<T>,
  width: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) await act(next.value);
  };
  const workers = Array.from({ length: width }, worker);
  await Promise.allSettled(workers);
  await Promise.all(workers);
}

/** Time limit of work without a yield, in milliseconds. */
const BUDGET_MS = 1;
/** Items between two clock reads, which cost as much as the work on some items. */
const CLOCK_READ_EVERY = 16;

/**
 * Calls `act` with each item and yields to the event loop after every `page` items, or earlier when they take longer
 * than a millisecond. Ends early when `signal` aborts.
 */
export async function forEachInPages<Item>(
  items: Iterable<Item>,
  page: number,
  act: (item: Item) => void,
  clock: Clock,
  signal?: AbortSignal,
): Promise<void> {
  let done = 0;
  let sliceEnd = clock.monotonic() + BUDGET_MS;
  for (const item of items) {
    const isOver = done % CLOCK_READ_EVERY === 0 && clock.monotonic() >= sliceEnd;
    if (isOver || (done > 0 && done % page === 0)) {
      await clock.sleep(0, signal);
      sliceEnd = clock.monotonic() + BUDGET_MS;
    }
    if (signal?.aborted === true) return;
    act(item);
    done++;
  }
}
