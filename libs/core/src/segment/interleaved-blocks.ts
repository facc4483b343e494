import type { IdRange } from './id-range';
import type { Interleave } from './tag-settings';

/** A block of IDs, and the positions that stand for them in the row. */
export interface Block {
  readonly range: IdRange;
  /** The first position of the block. */
  readonly from: bigint;
  /** The first position after it. */
  readonly end: bigint;
}

/**
 * The IDs of one database's share of an interleaved tag. Its row counts positions 1, 2, 3, … as any; of every
 * `of` × `block` IDs in a row, `block` are its own.
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

  /** The first whole block at `position` or above: what a row that was moved has left of a block is skipped. */
  atPosition(position: bigint): Block {
    return this.at((position - 2n + this.block) / this.block);
  }

  /** The first whole block of this share whose IDs are `id` or above. */
  fromId(id: bigint): Block {
    const whole = (id - 2n + this.block) / this.block;
    return this.at((whole - this.remainder + this.of - 1n) / this.of);
  }

  /** The block that is exactly `range`; undefined when it is no whole block of this share. */
  exactly(range: IdRange): Block | undefined {
    const block = this.fromId(range.from);
    return block.range.from === range.from && block.range.to === range.to ? block : undefined;
  }

  private at(index: bigint): Block {
    const first = (index * this.of + this.remainder) * this.block + 1n;
    const from = index * this.block + 1n;
    return { range: { from: first, to: first + this.block - 1n }, from, end: from + this.block };
  }
}
