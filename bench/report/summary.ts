export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Median, minimum and maximum of at least one value. */
export function summarize(values: readonly number[]): Summary {
  if (values.length === 0) throw new Error('No values to summarize.');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
  return { median, min: sorted[0]!, max: sorted[sorted.length - 1]! };
}

/** Ratios of values of the same round, because disturbances affect both sides of a round. */
export function ratios(values: readonly number[], baseline: readonly number[]): number[] {
  return values.map((value, round) => value / baseline[round]!);
}
