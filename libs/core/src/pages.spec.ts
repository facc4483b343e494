import { FakeClock } from './clock/fake-clock';
import { forEachInPages } from './pages';

describe('forEachInPages', () => {
  const clock = new FakeClock();

  it('yields after each page except the last', async () => {
    const seen: number[] = [];
    const going = forEachInPages([1, 2, 3, 4], 2, (item) => void seen.push(item), clock);
    expect(seen).toEqual([1, 2]);
    expect(clock.sleeping).toBe(1);
    await clock.advance(0);
    await going;
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(clock.sleeping).toBe(0);
  });

  it('ends early when the signal aborts', async () => {
    const seen: number[] = [];
    const stop = new AbortController();
    const going = forEachInPages([1, 2, 3], 1, (item) => void seen.push(item), clock, stop.signal);
    stop.abort();
    await going;
    expect(seen).toEqual([1]);
  });
});
