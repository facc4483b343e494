import { FakeClock } from '@leaf-ids/core/testing';
import { NoRequestCounts, RequestCounts } from './request-counts';

const ROUTE = '/api/segment/get/:tag';

describe('RequestCounts', () => {
  it('times a request from its beginning to its end', async () => {
    const clock = new FakeClock();
    const counts = new RequestCounts(clock);
    await clock.advance(50);
    const begunAt = counts.begin();
    await clock.advance(3);
    counts.end(counts.of(ROUTE, 200), begunAt);
    counts.record(counts.of(ROUTE, 200), 0.1);
    counts.record(counts.of(ROUTE, 503), 20_000);
    const [good, bad] = [...counts.all()];
    expect(good).toMatchObject({ route: ROUTE, status: 200, requests: 2 });
    expect(good?.latency.snapshot()).toMatchObject({ count: 2, sum: 3.1 });
    const upTo = (bound: number): unknown =>
      good?.latency.snapshot().buckets.find((each) => each.bound === bound)?.count;
    expect([0.1, 2.5, 5, 10_000].map(upTo)).toEqual([1, 1, 2, 2]);
    expect(bad?.latency.snapshot().buckets.at(-1)).toEqual({ bound: 10_000, count: 0 });
  });

  it('does neither when it is off', () => {
    const counts: RequestCounts = new NoRequestCounts(new FakeClock());
    counts.end(counts.of(ROUTE, 200), counts.begin());
    expect([...counts.all()]).toMatchObject([{ requests: 0 }]);
  });
});
