import { watch } from '../../../../test/support/watch';
import { FakeClock } from '../clock/fake-clock';
import { forEachParallel, forEachInPages } from './for-each';

describe('forEachParallel', () => {
  it('goes through all items, never more than the width at once', async () => {
    const seen: number[] = [];
    let running = 0;
    let most = 0;
    await forEachParallel([1, 2, 3, 4, 5], 2, async (item) => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      seen.push(item);
      running--;
    });
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    expect(most).toBe(2);
  });

  it('rejects with the first failure', async () => {
    const failing = forEachParallel([1, 2], 1, (item) => Promise.reject(new Error(`no ${item}`)));
    await expect(failing).rejects.toThrow('no 1');
  });

  it('rejects only when no call is in flight', async () => {
    const clock = new FakeClock();
    let done = 0;
    const call = watch(
      forEachParallel([1, 2, 3, 4], 2, async (item) => {
        if (item === 1) throw new Error('no 1');
        await clock.sleep(10);
        done++;
      }),
    );
    await clock.advance(29);
    expect([done, call.settled]).toEqual([2, false]);
    await clock.advance(1);
    expect(call.error).toEqual(new Error('no 1'));
    expect(done).toBe(3);
  });
});

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
