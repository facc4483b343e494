import { type IdRange, LeafError, type PeriodRanges } from '@leaf-ids/core';
import { assertTag, withinDeadline } from '@leaf-ids/core/internal';
import { readBatch, readPeriod, readRanges } from './http/answers';
import type { PrefetchContext } from './prefetch/prefetch-context';
import { SNOWFLAKE_KEY } from './prefetch/snowflake-buffer';
import { RequestPolicy } from './servers/server-choice';
import { DuplicateDetector, type PrefetchView, rangesOverlap } from './prefetch/prefetch-buffer';
import { LoadRecord } from './prefetch/load-record';
import type { SnowflakeSource } from './snowflake-source';
import { ServerFault } from './servers/server-health';

/** Maximum number of tags to remember; the least recently used ones are forgotten. */
const MAX_TAGS = 10_000;

interface PeriodicTag {
  readonly policy: RequestPolicy;
  readonly duplicates: DuplicateDetector<PeriodRanges>;
}

/** Numbers of tags that restart in each period; one request per call. */
export class PeriodRequests {
  private readonly tags = new Map<string, PeriodicTag>();

  constructor(private readonly context: PrefetchContext) {}

  /**
   * @throws LeafError the refusal of the servers; `LEAF_SERVERS_UNAVAILABLE`, `LEAF_OVERLOADED`, `LEAF_PERIOD_INVALID`
   */
  async take(tag: string, count: number, at: Date | undefined): Promise<PeriodRanges> {
    assertTag(tag);
    const { requester } = this.context;
    const { policy, duplicates } = this.open(tag);
    const path = `/api/segment/period/${tag}?size=${count}${at === undefined ? '' : `&at=${encodeURIComponent(textOf(at))}`}`;
    return singleRequest(this.context, () =>
      requester.get(policy, path, (body) => readNew(body, tag, count, duplicates)),
    );
  }

  private open(tag: string): PeriodicTag {
    const known = this.tags.get(tag);
    const periodic = known ?? {
      policy: new RequestPolicy(tag, this.context.clock),
      duplicates: new DuplicateDetector((a, b) => a.period === b.period && rangesOverlap(a.ranges, b.ranges)),
    };
    this.tags.delete(tag);
    this.tags.set(tag, periodic);
    const [oldest = tag] = this.tags.keys();
    if (this.tags.size > MAX_TAGS) this.tags.delete(oldest);
    return periodic;
  }
}

function readNew(body: unknown, tag: string, count: number, duplicates: PeriodicTag['duplicates']): PeriodRanges {
  const read = readPeriod(body, tag, count);
  if (duplicates.isDuplicate(read)) {
    throw new ServerFault(
      `it repeated numbers of tag "${tag}": a proxy caches responses, or the servers do not share one database`,
    );
  }
  duplicates.add(read);
  return read;
}

/** @throws LeafError `LEAF_PERIOD_INVALID` */
export function textOf(at: Date): string {
  if (!Number.isNaN(at.getTime())) return at.toISOString();
  throw new LeafError('LEAF_PERIOD_INVALID', 'The date of the period is invalid. Pass a valid Date.');
}

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
 * @param advice what a late response means for the caller
 * @throws LeafError the error of the request; `LEAF_OVERLOADED`; `LEAF_SERVERS_UNAVAILABLE` after `timeoutMs`
 */
export async function singleRequest<T>(
  { callerLimit, clock, timeoutMs }: PrefetchContext,
  request: () => Promise<T>,
  advice = 'Numbers in a late response become a gap.',
): Promise<T> {
  callerLimit.enter();
  try {
    const answer = request();
    if (await withinDeadline(answer, clock.monotonic() + timeoutMs, clock)) return await answer;
    throw new LeafError(
      'LEAF_SERVERS_UNAVAILABLE',
      `No Leaf server responded within ${timeoutMs} ms (timeoutMs). ${advice} Check that the servers are up and reachable.`,
      { retryAfterMs: 1000 },
    );
  } finally {
    callerLimit.leave();
  }
}
