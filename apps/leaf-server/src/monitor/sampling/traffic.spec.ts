import { FakeClock } from '@leaf-ids/core/testing';
import { Traffic, type TrafficCounts } from './traffic';

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
    expect(traffic.history(3).segment).toEqual([]);
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
