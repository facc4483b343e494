import { SystemClock } from './clock';

describe('SystemClock', () => {
  const clock = new SystemClock();

  it('reads whole Unix milliseconds', () => {
    const before = Date.now();
    const now = clock.now();
    expect(Number.isSafeInteger(now)).toBe(true);
    expect(now).toBeGreaterThanOrEqual(before);
  });

  it('has a monotonic time that never falls', () => {
    let last = clock.monotonic();
    for (let i = 0; i < 1000; i++) {
      const next = clock.monotonic();
      expect(next).toBeGreaterThanOrEqual(last);
      last = next;
    }
  });

  it('ends a sleep', async () => {
    await expect(clock.sleep(0)).resolves.toBeUndefined();
  });

  it('lets the event loop go on during each sleep of 0, however long the work in between takes', async () => {
    const TASKS = 4;
    let parts = 0;
    let mostParts = 0;
    let isOver = false;
    const turn = (): void => {
      mostParts = Math.max(mostParts, parts);
      parts = 0;
      if (!isOver) setImmediate(turn);
    };
    const work = async (): Promise<void> => {
      for (let part = 0; part < 20; part++) {
        for (let ms = 0; ms < 3; ms++) clock.pause(1);
        parts++;
        await clock.sleep(0);
      }
    };
    setImmediate(turn);
    await Promise.all(Array.from({ length: TASKS }, work));
    isOver = true;
    expect(mostParts).toBeLessThanOrEqual(TASKS);
  });

  it('does not sleep when the signal has aborted already', async () => {
    await expect(clock.sleep(3_600_000, AbortSignal.abort())).resolves.toBeUndefined();
  });

  it('ends a sleep immediately when its signal aborts, and leaves no timer', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const alarm = new AbortController();
    const sleep = clock.sleep(3_600_000, alarm.signal);
    expect(timers()).toBe(before + 1);
    alarm.abort();
    await sleep;
    expect(timers()).toBe(before);
  });

  it('makes no call that was cancelled, and each other one', async () => {
    const calls: string[] = [];
    for (const ms of [0, 1]) {
      clock.after(ms, () => calls.push(`cancelled, ${ms}`))();
      await new Promise<void>((resolve) => clock.after(ms, resolve));
    }
    expect(calls).toStrictEqual([]);
  });

  it('makes repeated calls until they are cancelled, and leaves no timer', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    let calls = 0;
    await new Promise<void>((resolve) => {
      const interval = clock.every(1, () => {
        if (++calls < 3) return;
        interval.cancel();
        resolve();
      });
      expect(interval.timer?.hasRef()).toBe(true);
    });
    expect(timers()).toBe(before);
  });

  it('blocks the thread for a limited time', () => {
    const before = clock.monotonic();
    for (let n = 0; n < 10; n++) clock.pause(1);
    expect(clock.monotonic() - before).toBeGreaterThan(5);
  });
});
