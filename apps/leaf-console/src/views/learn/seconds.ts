/** Milliseconds of a film as seconds: `8.5`. */
export function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
