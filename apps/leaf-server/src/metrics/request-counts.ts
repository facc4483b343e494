/** Requests of one route that were answered with one status. */
export interface RequestCount {
  readonly route: string;
  readonly status: number;
  requests: number;
}

/** Counts requests; a count costs its holder one addition. */
export class RequestCounts {
  private readonly counts = new Map<string, RequestCount>();

  of(route: string, status: number): RequestCount {
    const key = `${status} ${route}`;
    let count = this.counts.get(key);
    if (count === undefined) {
      count = { route, status, requests: 0 };
      this.counts.set(key, count);
    }
    return count;
  }

  all(): Iterable<RequestCount> {
    return this.counts.values();
  }
}
