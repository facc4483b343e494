import { LeafError, MAX_BATCH_SIZE } from '@leaf-ids/core';
import { readBatch } from '../http/answers';
import { RequestPolicy } from '../servers/server-choice';
import { ServerFault } from '../servers/server-health';
import type { SnowflakeSource } from '../snowflake-source';
import type { PrefetchContext, PrefetchOptions } from './prefetch-context';
import { DuplicateDetector, PrefetchBuffer, type Stock } from './prefetch-buffer';

/** The decimal IDs of one response. */
class TextBatch implements Stock {
  left: number;

  constructor(
    private readonly ids: readonly string[],
    /** Time of the request, in monotonic milliseconds: all IDs are newer. */
    readonly requestedAt: number,
  ) {
    this.left = ids.length;
  }

  /** The next ID; call only while `left` is above 0. */
  take(): string {
    const id = this.ids[this.ids.length - this.left] as string;
    this.left--;
    return id;
  }
}

/** The key in the request path; only a label. */
export const SNOWFLAKE_KEY = 'leaf-client';

export interface SnowflakePrefetchOptions extends PrefetchOptions {
  /**
   * Maximum age of an ID since its request, in milliseconds; buffered IDs are renewed after half of it. Infinity: no
   * limit.
   */
  readonly maxAgeMs: number;
}

/** Snowflake IDs, prefetched as batches. Their timestamp is the time of the request, not of the call. */
export class SnowflakeBuffer extends PrefetchBuffer<TextBatch> implements SnowflakeSource {
  private readonly policy: RequestPolicy;
  /** Compares first IDs: a repeated batch starts with the same ID. */
  private readonly duplicates = new DuplicateDetector<string>((a, b) => a === b);
  private readonly maxAgeMs: number;
  private newestAt: number | undefined;

  constructor(context: PrefetchContext, options: SnowflakePrefetchOptions) {
    super('snowflake', context, options, MAX_BATCH_SIZE, new TextBatch([], -Infinity));
    this.policy = new RequestPolicy(undefined, context.clock);
    this.maxAgeMs = options.maxAgeMs;
  }

  tryNext(): string | undefined {
    this.dropStale();
    const { current } = this;
    return current.left > this.checkpoint ? current.take() : this.stocked()?.take();
  }

  next(): string {
    const id = this.tryNext();
    if (id !== undefined) return id;
    this.refusal.assertNone();
    throw this.empty();
  }

  nextBigint(): bigint {
    return BigInt(this.next());
  }

  async takeBigints(count: number): Promise<bigint[]> {
    return (await this.take(count)).map(BigInt);
  }

  take(count: number): Promise<string[]> {
    return this.taken(count, () => {
      const ids = Array.from({ length: count }, () => this.stocked()?.take() as string);
      this.topUp();
      // Batches of two servers may overlap; each batch is ascending.
      return ids.sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
    });
  }

  protected override async fetch(count: number): Promise<TextBatch[]> {
    const requestedAt = this.context.clock.monotonic();
    const path = `/api/snowflake/batch/${SNOWFLAKE_KEY}?size=${count}`;
    const ids = await this.context.requester.get(this.policy, path, (body) => this.read(body, count));
    const isFirst = this.newestAt === undefined;
    this.newestAt = requestedAt;
    if (isFirst && this.maxAgeMs !== Infinity) void this.keepFresh();
    return [new TextBatch(ids, requestedAt)];
  }

  protected override dropStale(): void {
    // Stryker disable next-line ConditionalExpression: it saves a clock read for each ID.
    if (this.maxAgeMs === Infinity) return;
    const oldest = this.context.clock.monotonic() - this.maxAgeMs;
    let dropped = 0;
    while ((this.current.left > 0 || this.advance()) && this.current.requestedAt < oldest) {
      dropped += this.current.left;
      this.advance();
    }
    if (dropped > 0) this.context.events.onExpired(dropped);
  }

  private read(body: unknown, count: number): string[] {
    const ids = readBatch(body, SNOWFLAKE_KEY, count);
    const first = ids[0] as string;
    if (this.duplicates.isDuplicate(first)) {
      throw new ServerFault('it repeated snowflake IDs: a proxy caches responses');
    }
    this.duplicates.add(first);
    return ids;
  }

  /** Renews buffered IDs, so that an application with few calls always finds fresh ones. */
  private async keepFresh(): Promise<void> {
    const { clock, closing } = this.context;
    const half = this.maxAgeMs / 2;
    for (let newestAt = this.newestAt; newestAt !== undefined && !closing.aborted; newestAt = this.newestAt) {
      const left = newestAt + half - clock.monotonic();
      if (left > 0) {
        await clock.sleep(left, closing);
        continue;
      }
      this.dropStale();
      this.replenish();
      await this.change(clock.monotonic() + half);
    }
  }

  private empty(): LeafError {
    return new LeafError(
      'LEAF_NOT_READY',
      'No snowflake ID is buffered in this client. Await snowflakes(1), which waits for the servers; or preload snowflake IDs and await ready().',
      { cause: this.failure, retryAfterMs: 1000 },
    );
  }
}
