import { Latencies } from './latencies';
import type { PhaseResult } from './phases';
import { SecondRecords } from './second-records';

/** Admitted requests that take longer count as failing. */
export const LATENCY_LIMIT_MS = 50;
/** Time until the server can distinguish an overload from a burst. The percentiles exclude it. */
const RAMP_MS = 1000;

/** An interval is failing if more than this share of its requests is failing. */
const WINDOW_MS = 100;
const FAILING_SHARE = 0.01;
const CALM_WINDOWS = 10;

interface Window {
  asked: number;
  failing: number;
}

/** Results of the requests in one phase. */
export class PhaseRecord {
  private readonly startedAt = performance.now();
  private readonly latencies = new Latencies();
  private readonly lateness = new Latencies();
  private readonly rampMs: number;
  private readonly ofSeconds: SecondRecords;
  private ok = 0;
  private refused = 0;
  private failed = 0;
  private unsent = 0;
  private waited = 0;
  private readonly windows: Window[] = [];
  offered = 0;

  constructor(private readonly seconds: number) {
    this.rampMs = Math.min(RAMP_MS, seconds * 250);
    this.ofSeconds = new SecondRecords(seconds);
  }

  get elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  get answered(): number {
    return this.ok + this.refused + this.failed;
  }

  /** Records a request that is due. */
  notice(dueAt: number): void {
    const ms = this.elapsedMs - dueAt;
    if (dueAt >= this.rampMs) this.lateness.record(ms);
    this.ofSeconds.notice(dueAt, ms);
  }

  /** Records due requests that wait for a free connection. */
  hold(count: number): void {
    this.waited += count;
  }

  answer(status: number, dueAt: number): void {
    const ms = this.elapsedMs - dueAt;
    if (status === 200) this.ok++;
    else if (status === 503) this.refused++;
    else this.failed++;
    if (status === 200 && dueAt >= this.rampMs) this.latencies.record(ms);
    if (status === 200) this.ofSeconds.answer(dueAt, ms);
    this.book(dueAt, 1, status !== 200 || ms > LATENCY_LIMIT_MS);
  }

  /** Records requests that received no response. */
  abandon(count: number): void {
    this.failed += count;
  }

  skip(count: number): void {
    this.offered += count;
    this.unsent += count;
    this.book(this.elapsedMs, count, true);
  }

  private book(dueAt: number, count: number, failing: boolean): void {
    const window = (this.windows[Math.floor(dueAt / WINDOW_MS)] ??= { asked: 0, failing: 0 });
    window.asked += count;
    if (failing) window.failing += count;
  }

  /** Start of the first second without failures. */
  private get calmFromMs(): number {
    let calm = 0;
    for (let index = 0; index * WINDOW_MS < this.seconds * 1000; index++) {
      const { asked = 0, failing = 0 } = this.windows[index] ?? {};
      calm = failing > asked * FAILING_SHARE ? 0 : calm + 1;
      if (calm === CALM_WINDOWS) return (index + 1 - CALM_WINDOWS) * WINDOW_MS;
    }
    return Infinity;
  }

  /** @param ended connections that the server has ended */
  result(ended: number): PhaseResult {
    const { p50, p99, p999, max } = this.latencies.figures();
    const { offered, unsent, ok, refused, failed, seconds, waited, calmFromMs } = this;
    const late = this.lateness.figures();
    return {
      ...{ offered, unsent, ok, refused, failed, seconds, waited, ended, calmFromMs },
      ...{ p50Ms: p50, p99Ms: p99, p999Ms: p999, maxMs: max },
      lateness: { p50Ms: late.p50, p99Ms: late.p99, maxMs: late.max },
      startedAtMs: performance.timeOrigin + this.startedAt,
      ofSeconds: this.ofSeconds.results(),
    };
  }
}
