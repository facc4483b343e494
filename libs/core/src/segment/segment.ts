import { sizeOf, type IdRange } from './id-range';

/** A range of one allocation, used from its lower end. */
export class Segment {
  readonly size: number;
  /** IDs not issued yet. */
  left: number;
  private cursor: bigint;

  constructor(readonly range: IdRange) {
    this.size = sizeOf(range);
    this.left = this.size;
    this.cursor = range.from;
  }

  /** The next ID. Only while `left` is above 0. */
  take(): bigint {
    this.left--;
    const id = this.cursor;
    this.cursor = id + 1n;
    return id;
  }

  /** The next `count` IDs. Only while `left` is at least that. */
  takeRange(count: number): IdRange {
    const from = this.cursor;
    this.left -= count;
    this.cursor = from + BigInt(count);
    return { from, to: this.cursor - 1n };
  }

  /** The next ID to be issued; one past the range when there is none. */
  get position(): bigint {
    return this.cursor;
  }

  /** What was not issued yet. */
  get rest(): IdRange {
    return { from: this.cursor, to: this.range.to };
  }
}
