import { Histogram } from './histogram';

describe('Histogram', () => {
  it('counts values up to each inclusive bound, and above the last', () => {
    const histogram = new Histogram([1, 5]);
    for (const value of [0, 1, 1.5, 5, 5.1, 100]) histogram.record(value);
    expect(histogram.snapshot()).toEqual({
      buckets: [
        { bound: 1, count: 2 },
        { bound: 5, count: 4 },
      ],
      count: 6,
      sum: 112.6,
    });
  });

  it('is empty at first', () => {
    expect(new Histogram([1]).snapshot()).toEqual({ buckets: [{ bound: 1, count: 0 }], count: 0, sum: 0 });
  });
});
