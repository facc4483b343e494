import { sizeOf, type IdRange } from './id-range';

/** A range of one allocation, issued in ascending order. */
export class Segment {
  readonly size: number;
  /** Number of unissued IDs. */
  left: number;
  private cursor: bigint;

  constructor(readonly range: IdRange) {
    this.size = sizeOf(range);
    this.left = this.size;
    this.cursor = range.from;
  }

  /** Takes the next ID. Call it only while `left` is above 0. */
  take(): bigint {
    this.left--;
    const id = this.cursor;
    this.cursor = id + 1n;
    return id;
  }

  /** Takes the next `count` IDs. Call it only while `left` is at least `count`. */
  takeRange(count: number): IdRange {
    const from = this.cursor;
    this.left -= count;
    this.cursor = from + BigInt(count);
    return { from, to: this.cursor - 1n };
  }

  /** The next ID to issue; one past the range if there is none. */
  get position(): bigint {
    return this.cursor;
  }

  /** The unissued IDs. */
  get rest(): IdRange {
    return { from: this.cursor, to: this.range.to };
  }
}
