import type { IdRange } from './id-range';
import { Segment } from './segment';

/** Shared: of many tags, most have nothing in line. */
const NONE: readonly Segment[] = [];
const USED_UP = new Segment({ from: 1n, to: 0n });

/** The segments of one tag that are at hand, ascending, and the books on what was issued of them. */
export class SegmentStock {
  current = USED_UP;
  /** What follows `current`: none, or the next segment, or what came in besides. */
  queue: readonly Segment[] = NONE;
  /** IDs that came in so far, without those unloaded. */
  private received = 0;
  /** IDs drained by {@link lend}: neither at hand nor issued. */
  private lent = 0;
  /** How often IDs were lent or put back. */
  private loans = 0;

  get buffered(): number {
    let sum = this.current.left;
    for (const { left } of this.queue) sum += left;
    return sum;
  }

  /** IDs handed out. Counted without a cost to whoever takes one. */
  get issued(): number {
    return this.received - this.lent - this.buffered;
  }

  /** Grows with all that comes in, is handed out, lent or put back. */
  get moves(): number {
    return this.received + this.issued + this.loans;
  }

  /** The segment that IDs come from; undefined before the first. */
  get loaded(): Segment | undefined {
    return this.current === USED_UP ? undefined : this.current;
  }

  receive(range: IdRange): void {
    const segment = new Segment(range);
    this.received += segment.size;
    this.queue = [...this.queue, segment];
  }

  /** Goes on to the next segment; false when there is none. */
  advance(): boolean {
    const [next, ...others] = this.queue;
    if (next === undefined) return false;
    this.current = next;
    this.queue = others.length === 0 ? NONE : others;
    return true;
  }

  /** Exactly `count` buffered IDs. */
  drain(count: number): IdRange[] {
    const ranges: IdRange[] = [];
    let wanted = count;
    while (wanted > 0 && (this.current.left > 0 || this.advance())) {
      const share = Math.min(wanted, this.current.left);
      ranges.push(this.current.takeRange(share));
      wanted -= share;
    }
    return ranges;
  }

  /** All that is buffered, until {@link settle} or {@link restore} says what became of it. */
  lend(): IdRange[] {
    this.lent = this.buffered;
    this.loans++;
    return this.drain(this.lent);
  }

  /** What was lent is issued, and `more` that never came in here. */
  settle(more: number): void {
    this.received += more;
    this.lent = 0;
  }

  /** Puts back what was lent. Nothing was issued in between: there was nothing to issue. */
  restore(pieces: readonly IdRange[]): void {
    this.lent = 0;
    this.loans++;
    const [first, ...others] = pieces.map((piece) => new Segment(piece));
    if (first === undefined) return;
    this.current = first;
    this.queue = [...others, ...this.queue];
  }

  /** Takes out what was not issued, newest range first. */
  unload(): IdRange[] {
    this.received -= this.buffered;
    const segments = [this.current, ...this.queue].reverse();
    this.current = USED_UP;
    this.queue = NONE;
    return segments.flatMap((segment) => (segment.left > 0 ? [segment.rest] : []));
  }
}
