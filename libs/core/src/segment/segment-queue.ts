import type { IdRange } from './id-range';
import { Segment } from './segment';
import { view, type DoubleBufferSnapshot } from './segment-snapshot';

type QueueSnapshot = Pick<DoubleBufferSnapshot, 'issued' | 'buffered' | 'current' | 'next' | 'spare'>;

/** Shared: of many tags, most have nothing in line. */
const NONE: readonly Segment[] = [];
const USED_UP = new Segment({ from: 1n, to: 0n });

/** The segments of one tag that are buffered, ascending, and the count of what was issued of them. */
export class SegmentQueue {
  current = USED_UP;
  /** Segments after `current`: mostly none or one; more when ranges were loaded for calls that had given up. */
  following: readonly Segment[] = NONE;
  /** IDs appended so far, without those cleared. */
  private received = 0;

  get buffered(): number {
    let sum = this.current.left;
    for (const { left } of this.following) sum += left;
    return sum;
  }

  /** IDs handed out: computed, so that taking an ID costs nothing more. */
  get issued(): number {
    return this.received - this.buffered;
  }

  /** Grows with every ID that is appended or handed out. */
  get moves(): number {
    return this.received + this.issued;
  }

  snapshot(): QueueSnapshot {
    const [next, ...spare] = this.following.map(view);
    const current = this.current === USED_UP ? undefined : view(this.current);
    return { issued: this.issued, buffered: this.buffered, current, next, spare };
  }

  append(range: IdRange): void {
    const segment = new Segment(range);
    this.received += segment.size;
    this.following = [...this.following, segment];
  }

  /** Moves `ranges` here. */
  appendAll(ranges: IdRange[]): void {
    for (const range of ranges.splice(0)) this.append(range);
  }

  /** Goes on to the next segment; false when there is none. */
  advance(): boolean {
    const [next, ...others] = this.following;
    if (next === undefined) return false;
    this.current = next;
    this.following = others.length === 0 ? NONE : others;
    return true;
  }

  /** The next `count` IDs, lowest first. Only while as many are buffered. */
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

  /** Takes out what was not issued, newest range first. */
  clear(): IdRange[] {
    this.received -= this.buffered;
    const segments = [this.current, ...this.following].reverse();
    this.current = USED_UP;
    this.following = NONE;
    return segments.flatMap((segment) => (segment.left > 0 ? [segment.rest] : []));
  }
}
