/** Returns a random integer from 0 to `bound` - 1. */
export type RandomSource = (bound: number) => number;

/** Not cryptographically secure: for start values and back-off only. */
export const systemRandom: RandomSource = (bound) => Math.floor(Math.random() * bound);
