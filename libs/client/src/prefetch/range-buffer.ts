import { type IdRange, LeafError, MAX_RANGE_SIZE, Segment } from '@leaf-ids/core';
import { type RangesAnswer, readRanges } from '../http/answers';
import { RequestPolicy } from '../servers/request-policy';
import { ServerFault } from '../servers/server-fault';
import type { PrefetchContext, PrefetchOptions } from './prefetch-context';
import { DuplicateDetector, rangesOverlap } from './duplicate-detector';
import { PrefetchBuffer } from './prefetch-buffer';
import type { StrictBuffer } from './strict-buffer';

/** The segment IDs of one tag, fetched ahead as ranges. */
export class RangeBuffer extends PrefetchBuffer<Segment> {
  private readonly route: RequestPolicy;
  private readonly duplicates = new DuplicateDetector(rangesOverlap);

  /** What serves the tag since a server said that it is strict. */
  private successor: StrictBuffer | undefined;

  /** @param onStrict makes the successor when a server says that the tag is strict */
  constructor(
    tag: string,
    context: PrefetchContext,
    options: PrefetchOptions,
    private readonly onStrict: () => StrictBuffer,
  ) {
    super(tag, context, options, MAX_RANGE_SIZE, new Segment({ from: 1n, to: 0n }));
    this.route = new RequestPolicy(tag, context.clock);
  }

  /** The next ID, or undefined when none is at hand. */
  tryNext(): bigint | undefined {
    const { current } = this;
    return current.left > this.checkpoint ? current.take() : this.stocked()?.take();
  }

  /** The next ID, waiting for it if need be. */
  take(): Promise<bigint> {
    return this.orSuccessor(
      () => this.taken(1, () => this.stocked()?.take() as bigint),
      (successor, since) => successor.take(since),
    );
  }

  /** The next `count` IDs, ascending. */
  takeRanges(count: number): Promise<IdRange[]> {
    return this.orSuccessor(
      () =>
        this.taken(count, () => {
          const ranges = this.drain(count);
          // Only where the server has changed in between are they not in order already.
          return ranges.sort((a, b) => (a.from < b.from ? -1 : 1));
        }),
      (successor, since) => successor.takeRanges(count, since),
    );
  }

  override fill(): Promise<void> {
    return this.orSuccessor(
      () => super.fill(),
      (successor) => successor.fill(),
    );
  }

  /** Of a tag that turns out to be strict, the IDs are dropped: nobody knows for whom they were asked. */
  protected override async fetch(count: number): Promise<Segment[]> {
    // A tag has no character that a path would need encoded.
    const path = `/api/segment/range/${this.name}?size=${count}`;
    const { ranges, strict } = await this.context.requester.get(this.route, path, (body) => this.read(body, count));
    if (!strict) return ranges.map((range) => new Segment(range));
    if (!this.context.closing.aborted) this.successor = this.onStrict();
    const moved = new LeafError('LEAF_INTERNAL', `The tag "${this.name}" is strict, and served without a buffer.`);
    this.close(moved);
    throw moved;
  }

  /** Calls that wait when the tag turns out to be strict go on with its successor. */
  private async orSuccessor<T>(
    act: () => Promise<T>,
    goOn: (successor: StrictBuffer, since: number) => Promise<T>,
  ): Promise<T> {
    const since = this.context.clock.monotonic();
    try {
      return await act();
    } catch (error) {
      if (this.successor === undefined) throw error;
      return goOn(this.successor, since);
    }
  }

  private read(body: unknown, count: number): RangesAnswer {
    const answer = readRanges(body, this.name, count);
    const { ranges } = answer;
    if (this.duplicates.isDuplicate(ranges)) {
      throw new ServerFault(
        `it repeated IDs of tag "${this.name}": something in between caches answers, or the servers do not share one database`,
      );
    }
    this.duplicates.add(ranges);
    return answer;
  }

  /** Only with `count` IDs at hand. */
  private drain(count: number): IdRange[] {
    const ranges: IdRange[] = [];
    for (let wanted = count; wanted > 0;) {
      const stock = this.stocked();
      if (stock === undefined) break;
      const share = Math.min(wanted, stock.left);
      ranges.push(stock.takeRange(share));
      wanted -= share;
    }
    this.topUp();
    return ranges;
  }
}
