export interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

/** Of durations in milliseconds; NaN without values. */
export function percentiles(values: Iterable<number>): Percentiles {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999), maxMs: at(1) };
}

export interface LoadResult extends Percentiles {
  /** Responses with 200. Latency is theirs, from the time at which the request was due, without the first second. */
  readonly ok: number;
  /** Other responses, and requests without a response. */
  readonly failed: number;
  /** How late the generator noticed due requests: its own error, which is part of the latency. */
  readonly latenessP99Ms: number;
}

/** The server and the generator compile their code meanwhile. */
const WARM_UP_MS = 1000;

/** Results of the requests of one load. */
export class LoadRecord {
  private readonly startedAt = performance.now();
  private readonly latencies: number[] = [];
  private readonly lateness: number[] = [];
  private ok = 0;
  private failed = 0;

  get elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  get answered(): number {
    return this.ok + this.failed;
  }

  /** Records a request that is due. */
  notice(dueAt: number): void {
    if (dueAt >= WARM_UP_MS) this.lateness.push(this.elapsedMs - dueAt);
  }

  answer(status: number, dueAt: number): void {
    if (status === 200) this.ok++;
    else this.failed++;
    if (status === 200 && dueAt >= WARM_UP_MS) this.latencies.push(this.elapsedMs - dueAt);
  }

  /** @param unanswered requests without a response */
  result(unanswered: number): LoadResult {
    const { ok, failed } = this;
    const latenessP99Ms = percentiles(this.lateness).p99Ms;
    return { ...percentiles(this.latencies), ok, failed: failed + unanswered, latenessP99Ms };
  }
}
