import type { HistogramSnapshot } from '@leaf-ids/core';
import type { LatencyView } from '../views/views';
import { hundredths } from './round-off';

/** Twelve intervals of five seconds: a minute. */
const SAMPLES = 13;

/** How many latencies were at or below each bound, and how many there were. */
export interface LatencyCounts {
  readonly buckets: HistogramSnapshot['buckets'];
  readonly total: number;
}

/** Percentiles of what a histogram, which only grows, has taken up in the last minute. */
export class LatencyWindow {
  private readonly samples: HistogramSnapshot[] = [];

  /** To be called every five seconds. */
  sample(snapshot: HistogramSnapshot): void {
    this.samples.push(snapshot);
    if (this.samples.length > SAMPLES) this.samples.shift();
  }

  /** From the oldest sample to `now`. */
  counts(now: HistogramSnapshot): LatencyCounts {
    const [oldest] = this.samples;
    const buckets = now.buckets.map(({ bound, count }, index) => ({
      bound,
      count: count - (oldest?.buckets[index]?.count ?? 0),
    }));
    return { buckets, total: now.count - (oldest?.count ?? 0) };
  }
}

/** Null when nothing came. */
export function toLatencyView({ buckets, total }: LatencyCounts): LatencyView | null {
  if (total === 0) return null;
  const at = (share: number): number => hundredths(quantile(buckets, share * total));
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) };
}

/** Within its bucket the value is taken to lie as far as its rank does; beyond the last bound, at that bound. */
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
