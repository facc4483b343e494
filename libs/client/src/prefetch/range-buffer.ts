import { type IdRange, MAX_RANGE_SIZE, Segment } from '@leaf/core';
import { readRanges } from '../http/answers';
import { Route } from '../servers/route';
import { ServerFault } from '../servers/server-fault';
import type { BufferContext, PrefetchOptions } from './buffer-context';
import { DuplicateDetector, rangesOverlap } from './duplicate-detector';
import { PrefetchBuffer } from './prefetch-buffer';

/** The segment IDs of one tag, fetched ahead as ranges. */
export class RangeBuffer extends PrefetchBuffer<Segment> {
  private readonly route: Route;
  private readonly duplicates = new DuplicateDetector(rangesOverlap);

  constructor(tag: string, context: BufferContext, options: PrefetchOptions) {
    super(tag, context, options, MAX_RANGE_SIZE, new Segment({ from: 1n, to: 0n }));
    this.route = new Route(tag, context.clock);
  }

  /** The next ID, or undefined when none is at hand. */
  tryNext(): bigint | undefined {
    const { current } = this;
    return current.left > this.checkpoint ? current.take() : this.stocked()?.take();
  }

  /** The next ID, waiting for it if need be. */
  take(): Promise<bigint> {
    return this.taken(1, () => this.stocked()?.take() as bigint);
  }

  /** The next `count` IDs, ascending. */
  takeRanges(count: number): Promise<IdRange[]> {
    return this.taken(count, () => {
      const ranges = this.drain(count);
      // Only where the server has changed in between are they not in order already.
      return ranges.sort((a, b) => (a.from < b.from ? -1 : 1));
    });
  }

  protected override async fetch(count: number): Promise<Segment[]> {
    // A tag has no character that a path would need encoded.
    const path = `/api/segment/range/${this.name}?size=${count}`;
    const ranges = await this.context.requester.get(this.route, path, (body) => this.read(body, count));
    return ranges.map((range) => new Segment(range));
  }

  private read(body: unknown, count: number): IdRange[] {
    const ranges = readRanges(body, this.name, count);
    if (this.duplicates.isDuplicate(ranges)) {
      throw new ServerFault(
        `it repeated IDs of tag "${this.name}": something in between caches answers, or the servers do not share one database`,
      );
    }
    this.duplicates.add(ranges);
    return ranges;
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
