import type { IdRange } from '../tags/id-range';
import { Segment } from '../allocation/segment';
import { view, type DoubleBufferSnapshot } from '../allocation/tag-source';

type QueueSnapshot = Pick<DoubleBufferSnapshot, 'issued' | 'buffered' | 'current' | 'next' | 'spare'>;

/** Shared by all queues, because most have no following segments. */
const NONE: Segment[] = [];
/** Maximum number of segments after the next one in a snapshot. */
const MAX_SHOWN = 100;
const USED_UP = new Segment({ from: 1n, to: 0n });

/** The buffered segments of one tag, ascending, and the number of IDs issued from them. */
export class SegmentQueue {
  current = USED_UP;
  /**
   * Segments after `current`, in reverse order: usually none or one; more if they were loaded for calls that had timed
   * out, or are blocks of an interleaved tag.
   */
  private following: Segment[] = NONE;
  /** Number of IDs in `following`. */
  private ahead = 0;
  /** Number of IDs appended, minus those cleared. */
  private received = 0;
  /** Number of IDs that {@link skipToRun} dropped. */
  private skipped = 0;

  get buffered(): number {
    return this.current.left + this.ahead;
  }

  /** Number of IDs issued. Computed, so that taking an ID updates no counter. */
  get issued(): number {
    return this.received - this.skipped - this.buffered;
  }

  /** Increases with every ID that is appended, issued or skipped. */
  get moves(): number {
    return this.received + this.issued + this.skipped;
  }

  snapshot(): QueueSnapshot {
    const [next, ...spare] = this.following
      .slice(-1 - MAX_SHOWN)
      .reverse()
      .map(view);
    const current = this.current === USED_UP ? undefined : view(this.current);
    return { issued: this.issued, buffered: this.buffered, current, next, spare };
  }

  /** Whether a segment follows the current one. */
  get hasNext(): boolean {
    return this.following.length > 0;
  }

  append(ranges: readonly IdRange[]): void {
    const added = ranges.map((range) => new Segment(range));
    for (const { size } of added) {
      this.received += size;
      this.ahead += size;
    }
    this.following = [...added.reverse(), ...this.following];
  }

  /**
   * Appends `ranges` and empties the array. With `consecutive`, drops them instead if `count` consecutive IDs are not
   * buffered even with them: they become a gap. Otherwise each failed call would leave its ranges here.
   *
   * @returns false if it dropped them
   */
  appendAll(ranges: IdRange[], count: number, consecutive: boolean): boolean {
    const loaded = ranges.splice(0);
    if (consecutive && this.runOf(count, loaded) === undefined) return false;
    this.append(loaded);
    return true;
  }

  /** Switches to the next segment; returns false if there is none. */
  advance(): boolean {
    if (this.following.length === 0) return false;
    this.current = this.following.pop() ?? USED_UP;
    this.ahead -= this.current.left;
    if (this.following.length === 0) this.following = NONE;
    return true;
  }

  /** Takes the next `count` IDs, lowest first. Call it only while at least `count` are buffered. */
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

  /** Whether `count` IDs are buffered; with `consecutive`, without a gap between them. */
  has(count: number, consecutive: boolean): boolean {
    return consecutive ? this.runOf(count) !== undefined : this.buffered >= count;
  }

  /** Drops the IDs below the lowest `count` consecutive ones. Call it only while so many are buffered. */
  skipToRun(count: number): void {
    const first = this.runOf(count);
    while (first !== undefined && this.current !== first) {
      this.skipped += this.current.left;
      this.advance();
    }
  }

  /** Removes and returns the unissued ranges, newest first. */
  clear(): IdRange[] {
    this.received -= this.buffered;
    const segments = [...this.following, this.current];
    this.current = USED_UP;
    this.following = NONE;
    this.ahead = 0;
    return segments.flatMap((segment) => (segment.left > 0 ? [segment.rest] : []));
  }

  /** The segment in which the lowest `count` consecutive IDs begin, if `loaded` follows the buffered ones. */
  private runOf(count: number, loaded: readonly IdRange[] = []): Segment | undefined {
    let first: Segment | undefined;
    let left = 0;
    let end = -1n;
    for (const segment of [
      this.current,
      ...this.following.toReversed(),
      ...loaded.map((range) => new Segment(range)),
    ]) {
      if (segment.position !== end) {
        first = segment;
        left = 0;
      }
      left += segment.left;
      if (left >= count) return first;
      end = segment.range.to + 1n;
    }
    return undefined;
  }
}
