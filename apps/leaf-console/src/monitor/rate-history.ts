const SECONDS = 60;

/** IDs per second of one tag over the last minute, made from its running count; seconds without news count as 0. */
export class RateHistory {
  private readonly rates = new Float32Array(SECONDS);
  private second: number;
  private issued: number;

  constructor(now: number, issued: number) {
    this.second = Math.floor(now / 1000);
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
    const last = Math.floor(now / 1000) - 1;
    return Array.from({ length: SECONDS - 1 }, (_, index) => {
      const second = last - SECONDS + 2 + index;
      const known = second <= this.second && second > this.second - SECONDS;
      return known ? (this.rates[second % SECONDS] ?? 0) : 0;
    });
  }
}
