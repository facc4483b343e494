import { type IdRange, LeafError } from '@leaf-ids/core';
import { assertTag, withinDeadline } from '@leaf-ids/core/internal';
import { readBatch, readRanges } from './http/answers';
import type { PrefetchContext } from './prefetch/prefetch-context';
import { SNOWFLAKE_KEY } from './prefetch/snowflake-buffer';
import { RequestPolicy } from './servers/request-policy';
import type { PrefetchView } from './prefetch/prefetch-buffer';
import { LoadRecord } from './prefetch/load-record';
import type { SnowflakeSource } from './snowflake-source';

/** Snowflake IDs without prefetch: each call that waits sends one request, and the others have no ID. */
export class DirectSnowflakes implements SnowflakeSource {
  constructor(private readonly requests: DirectRequests) {}

  next(): string {
    throw new LeafError(
      'LEAF_NOT_READY',
      'Prefetch is disabled, so no snowflake ID is buffered. Await snowflakes(1), or enable prefetch.',
    );
  }

  nextBigint(): bigint {
    return BigInt(this.next());
  }

  tryNext(): string | undefined {
    return undefined;
  }

  take(count: number): Promise<string[]> {
    return this.requests.snowflakes(count);
  }

  async takeBigints(count: number): Promise<bigint[]> {
    return (await this.take(count)).map(BigInt);
  }

  fill(): Promise<void> {
    return Promise.resolve();
  }

  close(): number {
    return 0;
  }

  snapshot(): PrefetchView {
    return { buffered: 0, size: 0, loading: false, ...new LoadRecord().view };
  }
}

/** IDs without prefetch: each call sends one request, whose IDs are for this call alone. */
export class DirectRequests {
  constructor(private readonly context: PrefetchContext) {}

  /** @throws LeafError the refusal of the servers; `LEAF_SERVERS_UNAVAILABLE`, `LEAF_OVERLOADED`, `LEAF_TAG_INVALID` */
  async ranges(tag: string, count: number): Promise<readonly IdRange[]> {
    assertTag(tag);
    const path = `/api/segment/range/${tag}?size=${count}`;
    const { ranges } = await this.get(tag, path, (body) => readRanges(body, tag, count));
    return ranges;
  }

  /** @throws LeafError as {@link ranges} */
  snowflakes(count: number): Promise<string[]> {
    const path = `/api/snowflake/batch/${SNOWFLAKE_KEY}?size=${count}`;
    return this.get(undefined, path, (body) => readBatch(body, SNOWFLAKE_KEY, count));
  }

  private get<T>(key: string | undefined, path: string, read: (body: unknown) => T): Promise<T> {
    const { requester, clock } = this.context;
    return singleRequest(this.context, () => requester.get(new RequestPolicy(key, clock), path, read));
  }
}

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
