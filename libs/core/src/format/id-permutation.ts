import { createCipheriv, hkdfSync } from 'node:crypto';
import { MAX_ID } from '../segment/tags/id-range';
import { assertId, type IdFormat } from './id-format';

/** The same number as FF1 of NIST SP 800-38G. */
const ROUNDS = 10;
const MIN_KEY_BYTES = 16;
const BLOCK = 16;

export interface IdPermutationOptions {
  /**
   * Secret, at least 16 random bytes. A different key gives a different order; without the key, permuted IDs cannot be
   * restored.
   */
  readonly key: Uint8Array;
  /** Exclusive upper bound: IDs from 0 to `below` - 1 are permuted among themselves. 2^63 by default. */
  readonly below?: bigint;
}

/**
 * A keyed permutation of the numbers below a bound, and its inverse.
 *
 * The algorithm is the generalised Feistel network with cycle walking of Black and Rogaway, "Ciphers with Arbitrary
 * Finite Domains" (CT-RSA 2002), with AES-256 as the round function. It obfuscates and does not encrypt: a few IDs
 * reveal neither the number of IDs nor their order. It does not prevent guessing: in a small range, most numbers are
 * valid IDs.
 */
export class IdPermutation {
  readonly below: bigint;

  private readonly cipher: ReturnType<typeof createCipheriv>;
  private readonly block = Buffer.alloc(BLOCK);
  /** Sizes of the two halves; their product is `below` or slightly more. */
  private readonly left: number;
  private readonly right: number;

  /** @throws RangeError when the key is too short or the bound is not from 2 to 2^63 */
  constructor({ key, below = MAX_ID + 1n }: IdPermutationOptions) {
    if (key.length < MIN_KEY_BYTES) throw new RangeError(`The key must have at least ${MIN_KEY_BYTES} bytes.`);
    if (below < 2n || below > MAX_ID + 1n) throw new RangeError('The bound must be from 2 to 2^63.');
    this.below = below;
    this.left = Number(rootAbove(below));
    this.right = Number((below + BigInt(this.left) - 1n) / BigInt(this.left));
    const derived = hkdfSync('sha256', key, '', `leaf id permutation below ${below}`, 32);
    this.cipher = createCipheriv('aes-256-ecb', Buffer.from(derived), null).setAutoPadding(false);
  }

  /** @throws LeafError `LEAF_ID_INVALID` when the ID is not below the bound */
  permute(id: bigint): bigint {
    return this.walk(id, (value) => this.forward(value));
  }

  /** @throws LeafError `LEAF_ID_INVALID` when the number is not below the bound */
  restore(permuted: bigint): bigint {
    return this.walk(permuted, (value) => this.backward(value));
  }

  /** Cycle walking: applies `step` again until the value is in the range. */
  private walk(start: bigint, step: (value: bigint) => bigint): bigint {
    assertId(start, this.below - 1n);
    let value = step(start);
    while (value >= this.below) value = step(value);
    return value;
  }

  private forward(value: bigint): bigint {
    let [left, right] = this.split(value);
    for (let round = 1; round <= ROUNDS; round++) {
      const mixed = (left + this.roundValue(round, right)) % this.modulus(round);
      left = right;
      right = mixed;
    }
    return this.join(left, right);
  }

  private backward(value: bigint): bigint {
    let [left, right] = this.split(value);
    for (let round = ROUNDS; round >= 1; round--) {
      const modulus = this.modulus(round);
      const mixed = (right + modulus - this.roundValue(round, left)) % modulus;
      right = left;
      left = mixed;
    }
    return this.join(left, right);
  }

  private split(value: bigint): [number, number] {
    const base = BigInt(this.left);
    return [Number(value % base), Number(value / base)];
  }

  private join(left: number, right: number): bigint {
    return BigInt(right) * BigInt(this.left) + BigInt(left);
  }

  private modulus(round: number): number {
    return round % 2 === 1 ? this.left : this.right;
  }

  /** The round function; the result is below the modulus of the round. */
  private roundValue(round: number, half: number): number {
    this.block.writeUInt32BE(round, 0);
    this.block.writeUInt32BE(half, BLOCK - 4);
    const mixed = this.cipher.update(this.block).readBigUInt64BE(0);
    return Number(mixed % BigInt(this.modulus(round)));
  }
}

/** Permutes IDs before writing them, so that the texts reveal neither the number of IDs nor their order. */
export class PermutedFormat implements IdFormat {
  constructor(
    private readonly permutation: IdPermutation,
    private readonly inner: IdFormat,
  ) {}

  format(id: bigint): string {
    return this.inner.format(this.permutation.permute(id));
  }

  parse(text: string): bigint {
    return this.permutation.restore(this.inner.parse(text));
  }
}

/** The smallest number whose square is at least `value`. */
function rootAbove(value: bigint): bigint {
  // Of a number below 2^104, the rounded root is never above the result.
  let root = BigInt(Math.floor(Math.sqrt(Number(value))));
  while (root * root < value) root++;
  return root;
}
