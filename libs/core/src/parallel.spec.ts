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
});
