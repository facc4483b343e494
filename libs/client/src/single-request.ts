import { LeafError } from '@leaf-ids/core';
import { withinDeadline } from '@leaf-ids/core/internal';
import type { PrefetchContext } from './prefetch/prefetch-context';

/**
 * Runs the only request of a call, within the limits of the client.
 *
 * @throws LeafError the error of the request; `LEAF_OVERLOADED`; `LEAF_SERVERS_UNAVAILABLE` after `timeoutMs`
 */
export async function singleRequest<T>(
  { callerLimit, clock, timeoutMs }: PrefetchContext,
  request: () => Promise<T>,
): Promise<T> {
  callerLimit.enter();
  try {
    const answer = request();
    if (await withinDeadline(answer, clock.monotonic() + timeoutMs, clock)) return await answer;
    throw new LeafError(
      'LEAF_SERVERS_UNAVAILABLE',
      `No Leaf server responded within ${timeoutMs} ms (timeoutMs). Numbers in a late response become a gap. Check that the servers are up and reachable.`,
      { retryAfterMs: 1000 },
    );
  } finally {
    callerLimit.leave();
  }
}
