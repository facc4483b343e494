import type { Clock, HistogramSnapshot } from '@leaf-ids/core';
import { Histogram } from '@leaf-ids/core/internal';

/** Upper bounds in milliseconds: from 0.1 ms to 10 s. */
const LATENCY_BOUNDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];

export type Protocol = 'http' | 'resp';

/** Requests of one route that were answered with one status. */
export interface RequestCount {
  readonly protocol: Protocol;
  /** The route, or the RESP command. */
  readonly route: string;
  readonly status: number;
  requests: number;
  /** Milliseconds to the end of the answer. */
  readonly latency: Histogram;
}

/** Counts requests and times them. */
export class RequestCounts {
  private readonly counts = new Map<string, RequestCount>();

  constructor(private readonly clock: Clock) {}

  of(route: string, status: number, protocol: Protocol = 'http'): RequestCount {
    const key = `${protocol} ${status} ${route}`;
    let count = this.counts.get(key);
    if (count === undefined) {
      count = { protocol, route, status, requests: 0, latency: new Histogram(LATENCY_BOUNDS) };
      this.counts.set(key, count);
    }
    return count;
  }

  all(protocol: Protocol = 'http'): RequestCount[] {
    return [...this.counts.values()].filter((count) => count.protocol === protocol);
  }

  /** Requests of both protocols answered with a status of 400 or above. */
  errors(): number {
    let errors = 0;
    for (const { status, requests } of this.counts.values()) if (status >= 400) errors += requests;
    return errors;
  }

  /** Latencies of all requests of both protocols, those of the route `except` left out. */
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

  /** Begins a request; {@link end} takes the result. */
  begin(): number {
    return this.clock.monotonic();
  }

  /** A request that began at `begunAt` was answered. */
  end(count: RequestCount, begunAt: number): void {
    this.record(count, this.clock.monotonic() - begunAt);
  }

  /** @param times how many requests took this time */
  record(count: RequestCount, ms: number, times = 1): void {
    count.requests += times;
    count.latency.record(ms, times);
  }
}

/** Counts nothing: what a measurement of the counting compares with. */
export class NoRequestCounts extends RequestCounts {
  override end(): void {
    return;
  }

  override record(): void {
    return;
  }
}
