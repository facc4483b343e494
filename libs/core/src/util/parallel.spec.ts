import { watch } from '../../../../test/support/watch';
import { FakeClock } from '../clock/fake-clock';
import { forEachParallel } from './parallel';

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
