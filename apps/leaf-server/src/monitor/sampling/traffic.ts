import { Injectable } from '@nestjs/common';
import { Clock, type HistogramSnapshot } from '@leaf-ids/core';
import type { HistoryView, LatencyView } from '../views/views';

/** Rounds to two decimal places, which is enough for rates and times. */
export function round2(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Counts since the start. */
export interface TrafficCounts {
  readonly segment: number;
  readonly snowflake: number;
  readonly errors: number;
}

interface Sample extends TrafficCounts {
  /** Monotonic milliseconds. */
  readonly at: number;
}

/** Length of a step of the history, in milliseconds. */
const STEP_MS = 5000;
/** 15 minutes. */
const STEPS = 180;
/** Number of samples for the current rate. */
const RECENT = 5;

/** Rates per second of the whole server: the current rate, and the history of the last 15 minutes in steps. */
@Injectable()
export class Traffic {
  private readonly recent: Sample[] = [];
  private readonly steps: TrafficCounts[] = [];
  /** The sample at the start of the current step; undefined before the first sample. */
  private stepStart: Sample | undefined;
  private startedAt = 0;
  private ended = 0;
  private endsAt = 0;

  constructor(private readonly clock: Clock) {}

  /** Call about once a second. */
  sample(counts: TrafficCounts): void {
    const sample = { ...counts, at: this.clock.monotonic() };
    if (this.stepStart === undefined) {
      this.startedAt = sample.at;
      this.endsAt = this.clock.now();
      this.stepStart = sample;
    }
    this.recent.push(sample);
    if (this.recent.length > RECENT) this.recent.shift();
    this.endSteps(this.stepStart, sample);
  }

  /** Rates over the last few seconds. */
  get rates(): TrafficCounts {
    const [oldest] = this.recent;
    const newest = this.recent.at(-1);
    return oldest === undefined || newest === undefined
      ? { segment: 0, snowflake: 0, errors: 0 }
      : between(oldest, newest);
  }

  /** Number of completed steps since the start. */
  get stepsEnded(): number {
    return this.ended;
  }

  /** The retained steps after the first `after` steps. */
  history(after = 0): HistoryView {
    const steps = after >= this.ended ? [] : this.steps.slice(-(this.ended - after));
    return {
      stepMs: STEP_MS,
      endsAt: this.endsAt,
      segment: steps.map(({ segment }) => segment),
      snowflake: steps.map(({ snowflake }) => snowflake),
      errors: steps.map(({ errors }) => errors),
    };
  }

  /** Completes several steps if samples were missed, and spreads their counts evenly. */
  private endSteps(start: Sample, sample: Sample): void {
    const elapsed = sample.at - this.startedAt;
    const due = Math.floor(elapsed / STEP_MS);
    if (due === this.ended) return;
    const rates = between(start, sample);
    const count = Math.min(due - this.ended, STEPS);
    for (let step = 0; step < count; step++) this.steps.push(rates);
    this.steps.splice(0, this.steps.length - STEPS);
    this.ended = due;
    this.endsAt = Math.round(this.clock.now() - (elapsed - due * STEP_MS));
    this.stepStart = sample;
  }
}

function between(from: Sample, to: Sample): TrafficCounts {
  const seconds = (to.at - from.at) / 1000;
  const rate = (before: number, after: number): number => (seconds > 0 ? round2((after - before) / seconds) : 0);
  return {
    segment: rate(from.segment, to.segment),
    snowflake: rate(from.snowflake, to.snowflake),
    errors: rate(from.errors, to.errors),
  };
}

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
