import { createHistogram } from 'node:perf_hooks';

/** Upper bounds of the buckets, in milliseconds, without the last bucket. */
const BOUNDS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500];
const NS_PER_MS = 1e6;

export interface LatencyFigures {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
  /** Count of latencies above the previous bound and at most `upTo`, in milliseconds. */
  readonly buckets: readonly { readonly upTo: number; readonly count: number }[];
}

/** Durations in milliseconds. */
export class Latencies {
  private readonly histogram = createHistogram({ figures: 3 });
  private readonly counts = new Array<number>(BOUNDS.length + 1).fill(0);

  record(ms: number): void {
    this.histogram.record(Math.max(1, Math.round(ms * NS_PER_MS)));
    let bucket = 0;
    while (bucket < BOUNDS.length && ms > BOUNDS[bucket]!) bucket++;
    this.counts[bucket]!++;
  }

  figures(): LatencyFigures {
    const { histogram } = this;
    const percentile = (share: number): number => histogram.percentile(share) / NS_PER_MS;
    return {
      count: histogram.count,
      p50: percentile(50),
      p99: percentile(99),
      p999: percentile(99.9),
      max: histogram.max / NS_PER_MS,
      buckets: this.counts.map((count, bucket) => ({ upTo: BOUNDS[bucket] ?? Infinity, count })),
    };
  }
}
