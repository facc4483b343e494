import { type IdRange, isLeafError, LeafError, MAX_RANGE_SIZE } from '@leaf-ids/core';
import { Segment } from '@leaf-ids/core/internal';
import { type RangesAnswer, readRanges } from '../http/answers';
import { RequestPolicy } from '../servers/server-choice';
import { ServerFault } from '../servers/server-health';
import type { PrefetchContext, PrefetchOptions } from './prefetch-context';
import { DuplicateDetector, PrefetchBuffer, rangesOverlap } from './prefetch-buffer';
import type { StrictBuffer } from './strict-buffer';

/** The segment IDs of one tag, prefetched as ranges. */
export class RangeBuffer extends PrefetchBuffer<Segment> {
  private readonly policy: RequestPolicy;
  private readonly duplicates = new DuplicateDetector(rangesOverlap);

  /** IDs per request: after a refusal because the tag has fewer left, it begins at 1 and doubles. */
  private most = Infinity;

  /** Serves the tag once a response has shown that it is strict. */
  private successor: StrictBuffer | undefined;

  /** @param onStrict creates the successor for a strict tag */
  constructor(
    tag: string,
    context: PrefetchContext,
    options: PrefetchOptions,
    private readonly onStrict: () => StrictBuffer,
  ) {
    super(tag, context, options, MAX_RANGE_SIZE, new Segment({ from: 1n, to: 0n }));
    this.policy = new RequestPolicy(tag, context.clock);
  }

  /** The next ID; undefined when none is buffered. */
  tryNext(): bigint | undefined {
    const { current } = this;
    return current.left > this.checkpoint ? current.take() : this.stocked()?.take();
  }

  /** As {@link tryNext}, as a number; undefined also when a number cannot represent the ID exactly. */
  tryNextNumber(): number | undefined {
    const { current } = this;
    return current.left > this.checkpoint ? current.takeNumber() : this.stocked()?.takeNumber();
  }

  /** The next ID; waits for a load if none is buffered. */
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
          // They are out of order only after a change of the server.
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

  /** Drops the IDs of a strict tag, because they were not requested for a specific caller. */
  protected override async fetch(count: number): Promise<Segment[]> {
    const size = Math.min(count, this.most);
    const { ranges, strict } = await this.ask(size).catch((error: unknown) => {
      if (size === 1 || !isLeafError(error, 'LEAF_TAG_EXHAUSTED')) throw error;
      this.policy.releaseAll();
      this.most = 1;
      return this.ask(1);
    });
    this.most *= 2;
    if (!strict) return ranges.map((range) => new Segment(range));
    if (!this.context.closing.aborted) this.successor = this.onStrict();
    const moved = new LeafError('LEAF_INTERNAL', `The tag "${this.name}" is strict and cannot be buffered.`);
    this.close(moved);
    throw moved;
  }

  private ask(count: number): Promise<RangesAnswer> {
    // Tags contain only characters that need no encoding in a path.
    const path = `/api/segment/range/${this.name}?size=${count}`;
    return this.context.requester.get(this.policy, path, (body) => this.read(body, count));
  }

  /** Passes waiting calls on to the successor when the tag is strict. */
  private async orSuccessor<T>(
    act: () => Promise<T>,
    passOn: (successor: StrictBuffer, since: number) => Promise<T>,
  ): Promise<T> {
    const since = this.context.clock.monotonic();
    try {
      return await act();
    } catch (error) {
      if (this.successor === undefined) throw error;
      return passOn(this.successor, since);
    }
  }

  private read(body: unknown, count: number): RangesAnswer {
    const answer = readRanges(body, this.name, count);
    const { ranges } = answer;
    if (this.duplicates.isDuplicate(ranges)) {
      throw new ServerFault(
        `it repeated IDs of tag "${this.name}": a proxy caches responses, or the servers do not share one database`,
      );
    }
    this.duplicates.add(ranges);
    return answer;
  }

  /** Call only with at least `count` IDs buffered. */
  private drain(count: number): IdRange[] {
    const ranges: IdRange[] = [];
    for (let wanted = count; wanted > 0;) {
      const stock = this.stocked() as Segment;
      const share = Math.min(wanted, stock.left);
      ranges.push(stock.takeRange(share));
      wanted -= share;
    }
    this.topUp();
    return ranges;
  }
}
