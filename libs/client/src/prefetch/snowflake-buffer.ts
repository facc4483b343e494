import { LeafError, MAX_BATCH_SIZE } from '@leaf-ids/core';
import { readBatch } from '../http/answers';
import { RequestPolicy } from '../servers/request-policy';
import { ServerFault } from '../servers/server-fault';
import type { PrefetchContext, PrefetchOptions } from './prefetch-context';
import { DuplicateDetector } from './duplicate-detector';
import { PrefetchBuffer } from './prefetch-buffer';
import { TextBatch } from './text-batch';

/** The key that servers are asked with: a label, and nothing else. */
const KEY = 'leaf-client';

export interface SnowflakePrefetchOptions extends PrefetchOptions {
  /**
   * No ID is issued longer than this after it was asked for, in milliseconds; IDs at hand are renewed after half of it.
   * Infinity: they wait for as long as it takes.
   */
  readonly maxAgeMs: number;
}

/** Snowflake IDs, fetched ahead as batches. They tell when the server made them, not when they are issued here. */
export class SnowflakeBuffer extends PrefetchBuffer<TextBatch> {
  private readonly route: RequestPolicy;
  /** Of the first IDs: a batch that comes again begins alike. */
  private readonly duplicates = new DuplicateDetector<string>((a, b) => a === b);
  private readonly maxAgeMs: number;
  private newestAt: number | undefined;

  constructor(context: PrefetchContext, options: SnowflakePrefetchOptions) {
    super('snowflake', context, options, MAX_BATCH_SIZE, new TextBatch([], -Infinity));
    this.route = new RequestPolicy(undefined, context.clock);
    this.maxAgeMs = options.maxAgeMs;
  }

  /** The next ID, or undefined when none is at hand. */
  tryNext(): string | undefined {
    this.dropStale();
    const { current } = this;
    return current.left > this.checkpoint ? current.take() : this.stocked()?.take();
  }

  /**
   * The next ID.
   *
   * @throws LeafError why none is at hand
   */
  next(): string {
    const id = this.tryNext();
    if (id !== undefined) return id;
    throw this.refusedWith ?? this.empty();
  }

  /** The next `count` IDs, ascending. */
  take(count: number): Promise<string[]> {
    return this.taken(count, () => {
      const ids = Array.from({ length: count }, () => this.stocked()?.take() as string);
      this.topUp();
      // Batches of two servers may overlap; within one they are in order already.
      return ids.sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
    });
  }

  protected override async fetch(count: number): Promise<TextBatch[]> {
    const askedAt = this.context.clock.monotonic();
    const path = `/api/snowflake/batch/${KEY}?size=${count}`;
    const ids = await this.context.requester.get(this.route, path, (body) => this.read(body, count));
    const isFirst = this.newestAt === undefined;
    this.newestAt = askedAt;
    if (isFirst && this.maxAgeMs !== Infinity) void this.keepFresh();
    return [new TextBatch(ids, askedAt)];
  }

  protected override dropStale(): void {
    if (this.maxAgeMs === Infinity) return;
    const oldest = this.context.clock.monotonic() - this.maxAgeMs;
    let dropped = 0;
    while ((this.current.left > 0 || this.advance()) && this.current.askedAt < oldest) {
      dropped += this.current.left;
      this.advance();
    }
    if (dropped > 0) this.context.events.onExpired(dropped);
  }

  private read(body: unknown, count: number): string[] {
    const ids = readBatch(body, KEY, count);
    const first = ids[0] as string;
    if (this.duplicates.isDuplicate(first)) {
      throw new ServerFault('it repeated snowflake IDs: something in between caches answers');
    }
    this.duplicates.add(first);
    return ids;
  }

  /** So that an application that seldom asks finds IDs at hand, too. */
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
      'No snowflake ID is at hand in this client. Await snowflakes(1), which waits for the servers; or preload snowflake IDs and await ready().',
      { cause: this.failure, retryAfterMs: 1000 },
    );
  }
}
