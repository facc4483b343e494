import type { Clock } from './clock/clock';

/**
 * Calls `act` with each item and yields to the event loop after every `page` items. Ends early when `signal` aborts.
 */
export async function forEachInPages<Item>(
  items: Iterable<Item>,
  page: number,
  act: (item: Item) => void,
  clock: Clock,
  signal?: AbortSignal,
): Promise<void> {
  let done = 0;
  for (const item of items) {
    if (done > 0 && done % page === 0) await clock.sleep(0, signal);
    if (signal?.aborted === true) return;
    act(item);
    done++;
  }
}
