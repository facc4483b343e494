import { FakeClock } from '@leaf-ids/core/testing';
import { Histogram } from '@leaf-ids/core/internal';
import { LatencyWindow, toLatencyView, Traffic, type TrafficCounts } from './traffic';

describe('Traffic', () => {
  let clock: FakeClock;
  let traffic: Traffic;
  let counts: TrafficCounts;

  beforeEach(() => {
    clock = new FakeClock();
    traffic = new Traffic(clock);
    counts = { segment: 7, snowflake: 0, errors: 0 };
    traffic.sample(counts);
  });

  /** Samples after one second with `segment` segment IDs, twice as many snowflake IDs, and one error. */
  async function second(segment: number): Promise<void> {
    await clock.advance(1000);
    counts = {
      segment: counts.segment + segment,
      snowflake: counts.snowflake + 2 * segment,
      errors: counts.errors + 1,
    };
    traffic.sample(counts);
  }

  async function seconds(count: number, segment: number): Promise<void> {
    for (let i = 0; i < count; i++) await second(segment);
  }

  it('has the rates of the last seconds', async () => {
    expect(traffic.rates).toEqual({ segment: 0, snowflake: 0, errors: 0 });
    await second(100);
    expect(traffic.rates).toEqual({ segment: 100, snowflake: 200, errors: 1 });
    await seconds(4, 0);
    expect(traffic.rates).toMatchObject({ segment: 0, errors: 1 });
  });

  it('keeps a step of five seconds once it has ended', async () => {
    const start = clock.now();
    await seconds(4, 10);
    expect(traffic.history()).toEqual({ stepMs: 5000, endsAt: start, segment: [], snowflake: [], errors: [] });
    await seconds(2, 10);
    expect(traffic.history()).toEqual({
      stepMs: 5000,
      endsAt: start + 5000,
      segment: [10],
      snowflake: [20],
      errors: [1],
    });
  });

  it('returns the steps after a given number of steps', async () => {
    await seconds(5, 1);
    await seconds(5, 2);
    await seconds(5, 3);
    expect(traffic.stepsEnded).toBe(3);
    expect(traffic.history(0).segment).toEqual([1, 2, 3]);
    expect(traffic.history(1).segment).toEqual([2, 3]);
    expect(traffic.history(3).segment).toStrictEqual([]);
  });

  it('keeps 15 minutes', async () => {
    const start = clock.now();
    await seconds(5, 77);
    await seconds(900, 1);
    const { segment, endsAt } = traffic.history();
    expect(segment).toEqual(Array(180).fill(1));
    expect(endsAt).toBe(start + 905_000);
    expect(traffic.history(100).segment).toHaveLength(81);
  });

  it('spreads the counts of a gap evenly, and keeps the step boundaries', async () => {
    const start = clock.now();
    await seconds(5, 10);
    await clock.advance(15_500);
    counts = { ...counts, segment: counts.segment + 155 };
    traffic.sample(counts);
    expect(traffic.history().segment).toEqual([10, 10, 10, 10]);
    expect(traffic.history().endsAt).toBe(start + 20_000);
    await clock.advance(3_600_000 * 24);
    traffic.sample(counts);
    expect(traffic.history().segment).toEqual(Array(180).fill(0));
  });
});

const MINUTE = 12;

describe('LatencyWindow', () => {
  let histogram: Histogram;
  let window: LatencyWindow;

  beforeEach(() => {
    histogram = new Histogram([1, 10, 100]);
    window = new LatencyWindow();
    window.sample(histogram.snapshot());
  });

  function record(times: number, ms: number): void {
    for (let i = 0; i < times; i++) histogram.record(ms);
  }

  it('is null without requests', () => {
    expect(toLatencyView(window.counts(histogram.snapshot()))).toBeNull();
  });

  it('interpolates percentiles within their buckets', () => {
    record(500, 0.4);
    record(490, 5);
    record(10, 50);
    expect(toLatencyView(window.counts(histogram.snapshot()))).toEqual({ p50: 1, p99: 10, p999: 91 });
  });

  it('reports values above the last bucket as its bound', () => {
    record(2, 5000);
    expect(toLatencyView(window.counts(histogram.snapshot()))).toEqual({ p50: 100, p99: 100, p999: 100 });
  });

  it('forgets samples older than a minute', () => {
    record(1000, 50);
    for (let i = 0; i < MINUTE; i++) window.sample(histogram.snapshot());
    expect(toLatencyView(window.counts(histogram.snapshot()))?.p50).toBe(55);
    record(10, 0.5);
    window.sample(histogram.snapshot());
    expect(toLatencyView(window.counts(histogram.snapshot()))).toEqual({ p50: 0.5, p99: 0.99, p999: 1 });
  });
});
