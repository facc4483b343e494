import type { IdRange } from './id-range';
import type { Interleave } from './tag-settings';

/** A block of IDs, and its positions in the row. */
export interface Block {
  readonly range: IdRange;
  /** The first position of the block. */
  readonly from: bigint;
  /** The first position after it. */
  readonly end: bigint;
}

/**
 * Maps the positions of a row to IDs of an interleaved tag. The row counts positions 1, 2, 3, … like any row; of each
 * `of` × `block` consecutive IDs, `block` belong to this database.
 */
export class InterleavedBlocks {
  private readonly of: bigint;
  private readonly remainder: bigint;
  private readonly block: bigint;

  constructor({ of, remainder, block }: Interleave) {
    this.of = BigInt(of);
    this.remainder = BigInt(remainder);
    this.block = BigInt(block);
  }

  /**
   * The first whole block at or above `position`. If the row was moved into a block, the rest of that block is skipped.
   */
  atPosition(position: bigint): Block {
    return this.at((position - 2n + this.block) / this.block);
  }

  /** The first whole block of this share that starts at or above `id`. */
  fromId(id: bigint): Block {
    const whole = (id - 2n + this.block) / this.block;
    return this.at((whole - this.remainder + this.of - 1n) / this.of);
  }

  /** The block of exactly `range`; undefined if `range` is not a whole block of this share. */
  exactly(range: IdRange): Block | undefined {
    const block = this.fromId(range.from);
    return block.range.from === range.from && block.range.to === range.to ? block : undefined;
  }

  /** `count` blocks of this share, from `first` on. Their positions adjoin each other. */
  run(first: Block, count: number): Block[] {
    const index = (first.from - 1n) / this.block;
    return Array.from({ length: count }, (_, offset) => this.at(index + BigInt(offset)));
  }

  private at(index: bigint): Block {
    const first = (index * this.of + this.remainder) * this.block + 1n;
    const from = index * this.block + 1n;
    return { range: { from: first, to: first + this.block - 1n }, from, end: from + this.block };
  }
}
