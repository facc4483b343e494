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
