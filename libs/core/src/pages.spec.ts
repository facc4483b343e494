import { FakeClock } from './clock/fake-clock';
import { forEachInPages } from './pages';

describe('forEachInPages', () => {
  const clock = new FakeClock();

  it('lets other work pass after each page, and not after the last', async () => {
    const seen: number[] = [];
    const going = forEachInPages([1, 2, 3, 4], 2, (item) => void seen.push(item), clock);
    expect(seen).toEqual([1, 2]);
    expect(clock.sleeping).toBe(1);
    await clock.advance(0);
    await going;
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(clock.sleeping).toBe(0);
  });

  it('ends where it is when it is stopped', async () => {
    const seen: number[] = [];
    const stop = new AbortController();
    const going = forEachInPages([1, 2, 3], 1, (item) => void seen.push(item), clock, stop.signal);
    stop.abort();
    await going;
    expect(seen).toEqual([1]);
  });
});
