import { sizeOf, type IdRange } from '../tags/id-range';

/** A range of one allocation, issued in ascending order, as bigints, as numbers, or both in turn. */
export class Segment {
  readonly size: number;
  /** Number of unissued IDs. They are the last ones of the range, so this is the whole state. */
  left: number;
  /** One past the range; Infinity if numbers cannot represent the whole range exactly. */
  private readonly end: number;
  /** The next ID when `cursorLeft` IDs were left: adding 1n to a bigint costs less than converting a number. */
  private cursor: bigint;
  private cursorLeft = 1;
  private readonly to: bigint;

  /** Does not keep `range`, because there may be 100,000 segments. */
  constructor(range: IdRange) {
    this.size = sizeOf(range);
    this.left = this.size;
    this.to = range.to;
    this.end = this.to <= Number.MAX_SAFE_INTEGER ? Number(this.to) + 1 : Infinity;
    this.cursor = this.to;
  }

  /** Takes the next ID. Call it only while `left` is above 0. */
  take(): bigint {
    if (this.cursorLeft !== this.left) this.moveCursor();
    const id = this.cursor;
    this.cursorLeft = --this.left;
    this.cursor = id + 1n;
    return id;
  }

  /**
   * As {@link take}, as a number, without creating a bigint. Undefined if a number cannot represent the ID exactly; it is
   * then not taken.
   */
  takeNumber(): number | undefined {
    const id = this.end - this.left;
    if (id > Number.MAX_SAFE_INTEGER) return this.takeNumberExactly();
    this.left--;
    return id;
  }

  /** Takes the next `count` IDs. Call it only while `left` is at least `count`. */
  takeRange(count: number): IdRange {
    const from = this.position;
    this.left -= count;
    this.cursor = from + BigInt(count);
    this.cursorLeft = this.left;
    return { from, to: this.cursor - 1n };
  }

  /** The next ID to issue; one past the range if there is none. */
  get position(): bigint {
    // Without the comparison, a range would cost half as much again.
    if (this.cursorLeft !== this.left) this.moveCursor();
    return this.cursor;
  }

  /** All IDs, issued or not. */
  get range(): IdRange {
    return { from: this.to - BigInt(this.size) + 1n, to: this.to };
  }

  /** The unissued IDs. */
  get rest(): IdRange {
    return { from: this.position, to: this.to };
  }

  /** Takes a number of a range that ends above 2^53 - 1. */
  private takeNumberExactly(): number | undefined {
    return this.position <= Number.MAX_SAFE_INTEGER ? Number(this.take()) : undefined;
  }

  private moveCursor(): void {
    this.cursor += BigInt(this.cursorLeft - this.left);
    this.cursorLeft = this.left;
  }
}
