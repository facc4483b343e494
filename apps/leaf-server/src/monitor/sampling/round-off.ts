/** Rounds to two decimal places, which is enough for rates and times. */
export function round2(value: number): number {
  return Math.round(value * 100) / 100;
}
