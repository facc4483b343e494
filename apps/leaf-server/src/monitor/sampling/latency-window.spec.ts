import { Histogram } from '@leaf-ids/core/internal';
import { LatencyWindow, toLatencyView } from './latency-window';

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
