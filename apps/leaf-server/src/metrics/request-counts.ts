import { Histogram, type HistogramSnapshot } from '@leaf/core';

/** Upper bounds of {@link RequestCount.latency}, in milliseconds. */
const LATENCY_BOUNDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 15_000];

/** Requests of one route that were answered with one status. */
export interface RequestCount {
  readonly route: string;
  readonly status: number;
  requests: number;
  /** Milliseconds to the end of the answer. The fast route records none. */
  readonly latency: Histogram;
}

/** Counts requests; a count costs its holder one addition. */
export class RequestCounts {
  private readonly counts = new Map<string, RequestCount>();

  of(route: string, status: number): RequestCount {
    const key = `${status} ${route}`;
    let count = this.counts.get(key);
    if (count === undefined) {
      count = { route, status, requests: 0, latency: new Histogram(LATENCY_BOUNDS) };
      this.counts.set(key, count);
    }
    return count;
  }

  all(): Iterable<RequestCount> {
    return this.counts.values();
  }

  /** Requests answered with a status of 400 or above. */
  errors(): number {
    let errors = 0;
    for (const { status, requests } of this.counts.values()) if (status >= 400) errors += requests;
    return errors;
  }

  /** Latencies of all requests together, those of the route `except` left out. */
  latencies(except: string): HistogramSnapshot {
    const counts = [...this.counts.values()].filter(({ route }) => route !== except);
    const snapshots = counts.map(({ latency }) => latency.snapshot());
    const total = (of: (snapshot: HistogramSnapshot) => number): number =>
      snapshots.reduce((sum, snapshot) => sum + of(snapshot), 0);
    return {
      buckets: LATENCY_BOUNDS.map((bound, index) => ({
        bound,
        count: total(({ buckets }) => buckets[index]?.count ?? 0),
      })),
      count: total(({ count }) => count),
      sum: total(({ sum }) => sum),
    };
  }
}
