/** The requests that were due in one second of a phase. */
export interface SecondResult {
  /** Latency of responses with 200. */
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** The largest error of the generator. */
  readonly latenessMaxMs: number;
}

/** Collects the latencies of each second. */
export class SecondRecords {
  private readonly latencies: number[][];
  private readonly lateness: number[];

  constructor(seconds: number) {
    this.latencies = Array.from({ length: Math.floor(seconds) }, () => []);
    this.lateness = this.latencies.map(() => 0);
  }

  notice(dueAt: number, lateMs: number): void {
    const second = Math.floor(dueAt / 1000);
    if (lateMs > (this.lateness[second] ?? Infinity)) this.lateness[second] = lateMs;
  }

  answer(dueAt: number, ms: number): void {
    this.latencies[Math.floor(dueAt / 1000)]?.push(ms);
  }

  results(): SecondResult[] {
    return this.latencies.map((unsorted, second) => {
      const sorted = Float64Array.from(unsorted).sort();
      const percentile = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? NaN;
      return { p99Ms: percentile(0.99), p999Ms: percentile(0.999), latenessMaxMs: this.lateness[second]! };
    });
  }
}
