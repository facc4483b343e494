import { FakeClock } from '../clock/fake-clock';
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

  it('yields within a page whose items take long', async () => {
    const seen: number[] = [];
    const items = Array.from({ length: 40 }, (_, item) => item);
    const act = (item: number): void => {
      seen.push(item);
      clock.pause(1);
    };
    const going = forEachInPages(items, 1000, act, clock);
    expect(seen).toHaveLength(16);
    await clock.advance(100);
    await going;
    expect(seen).toEqual(items);
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
