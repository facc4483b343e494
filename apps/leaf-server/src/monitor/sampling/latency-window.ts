import type { HistogramSnapshot } from '@leaf-ids/core';
import type { LatencyView } from '../views/views';
import { round2 } from './round-off';

/** Twelve intervals of five seconds: one minute. */
const SAMPLES = 13;

/** Cumulative count of latencies for each upper bound, and their total. */
export interface LatencyCounts {
  readonly buckets: HistogramSnapshot['buckets'];
  readonly total: number;
}

/** Counts of the last minute of a cumulative histogram. */
export class LatencyWindow {
  private readonly samples: HistogramSnapshot[] = [];

  /** Call every five seconds. */
  sample(snapshot: HistogramSnapshot): void {
    this.samples.push(snapshot);
    if (this.samples.length > SAMPLES) this.samples.shift();
  }

  /** Counts between the oldest sample and `now`. */
  counts(now: HistogramSnapshot): LatencyCounts {
    const [oldest] = this.samples;
    const buckets = now.buckets.map(({ bound, count }, index) => ({
      bound,
      count: count - (oldest?.buckets[index]?.count ?? 0),
    }));
    return { buckets, total: now.count - (oldest?.count ?? 0) };
  }
}

/** Null if there were no requests. */
export function toLatencyView({ buckets, total }: LatencyCounts): LatencyView | null {
  if (total === 0) return null;
  const at = (share: number): number => round2(quantile(buckets, share * total));
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) };
}

/** Interpolates linearly within the bucket; values above the last bound are reported as that bound. */
function quantile(buckets: HistogramSnapshot['buckets'], rank: number): number {
  let below = { bound: 0, count: 0 };
  for (const bucket of buckets) {
    if (bucket.count >= rank && bucket.count > below.count) {
      const share = (rank - below.count) / (bucket.count - below.count);
      return below.bound + share * (bucket.bound - below.bound);
    }
    below = bucket;
  }
  return below.bound;
}
