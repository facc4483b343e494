/** Returns a whole number from 0 up to, not including, `bound`. */
export type RandomSource = (bound: number) => number;

/** Not for secrets: spreads start values and back-off. */
export const systemRandom: RandomSource = (bound) => Math.floor(Math.random() * bound);
