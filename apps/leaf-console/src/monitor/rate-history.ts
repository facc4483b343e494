/** One minute, and the current second. */
export const SECONDS = 61;

/**
 * IDs per second of one tag over the last minute, calculated from its counter. Seconds without an update count as 0;
 * seconds before the first update are unknown.
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

  /** Adds a reading of the counter. The counter decreases when the server restarts. */
  add(now: number, issued: number): void {
    const second = Math.floor(now / 1000);
    if (second < this.second) return;
    for (let gap = Math.max(this.second + 1, second - SECONDS + 1); gap <= second; gap++) this.rates[gap % SECONDS] = 0;
    const slot = second % SECONDS;
    this.rates[slot] = (this.rates[slot] ?? 0) + Math.max(0, issued - this.issued);
    this.second = second;
    this.issued = issued;
  }

  /** The seconds before `now`, oldest first, without the current one. */
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
