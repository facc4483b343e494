/** To hundredths: more digits of a rate or a time say nothing. */
export function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
