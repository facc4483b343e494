/** Kept: a minute, and the second under way. */
export const SECONDS = 61;

/**
 * IDs per second of one tag over the last minute, made from its running count. Seconds without news count as 0; of those
 * before the first word nothing is known.
 */
export class RateHistory {
  private readonly rates = new Float32Array(SECONDS);
  private readonly first: number;
  private second: number;
  private issued: number;

  constructor(now: number, issued: number) {
    this.first = Math.floor(now / 1000);
    this.second = this.first;
    this.issued = issued;
  }

  /** The count stands at `issued`. A lower one is that of a server which has started again. */
  add(now: number, issued: number): void {
    const second = Math.floor(now / 1000);
    if (second < this.second) return;
    for (let gap = Math.max(this.second + 1, second - SECONDS + 1); gap <= second; gap++) this.rates[gap % SECONDS] = 0;
    const slot = second % SECONDS;
    this.rates[slot] = (this.rates[slot] ?? 0) + Math.max(0, issued - this.issued);
    this.second = second;
    this.issued = issued;
  }

  /** The seconds before `now`, oldest first; the one under way is left out. */
  values(now: number): number[] {
    const end = Math.floor(now / 1000);
    const from = Math.max(this.first, end - SECONDS + 1);
    return Array.from({ length: Math.max(0, end - from) }, (_, index) => {
      const second = from + index;
      const known = second <= this.second && second > this.second - SECONDS;
      return known ? (this.rates[second % SECONDS] ?? 0) : 0;
    });
  }
}
