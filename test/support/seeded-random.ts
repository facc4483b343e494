/** Marsaglia's xorshift128 (2003): the same numbers for the same seed. */
export class SeededRandom {
  private readonly state: Uint32Array;

  constructor(seed: number) {
    let mixed = seed >>> 0;
    // Near seeds must not start near each other.
    this.state = Uint32Array.from({ length: 4 }, () => {
      mixed = (mixed + 0x9e3779b9) >>> 0;
      let word = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
      return (word ^ (word >>> 15)) >>> 0;
    });
    this.state[3]! |= 1;
  }

  /** 32 bits. */
  bits(): number {
    const { state } = this;
    const first = state[0]! ^ (state[0]! << 11);
    const last = state[3]!;
    state[0] = state[1]!;
    state[1] = state[2]!;
    state[2] = last;
    state[3] = last ^ (last >>> 19) ^ first ^ (first >>> 8);
    return state[3];
  }

  /** From 0 up to, not including, 1. */
  fraction(): number {
    return this.bits() / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** A whole number from 0 up to, not including, `bound`. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound);
  }

  /** Evenly over the orders of magnitude between two positive numbers. */
  spread(min: number, max: number): number {
    return min * (max / min) ** this.fraction();
  }

  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.below(list.length)]!;
  }
}
