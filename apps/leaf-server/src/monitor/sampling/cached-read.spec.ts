import { FakeClock } from '@leaf-ids/core/testing';
import { CachedRead } from './cached-read';

const KEPT_MS = 250;

describe('CachedRead', () => {
  let clock: FakeClock;
  let reads: number;
  let fault: Error | undefined;
  let cached: CachedRead<{ readonly read: number }>;

  beforeEach(() => {
    clock = new FakeClock();
    reads = 0;
    fault = undefined;
    cached = new CachedRead(
      async () => {
        const read = ++reads;
        await clock.sleep(1500);
        if (fault !== undefined) throw fault;
        return { read };
      },
      KEPT_MS,
      clock,
    );
  });

  it('reads once for all callers, however long the read takes', async () => {
    const early = Array.from({ length: 100 }, () => cached.get());
    await clock.advance(1400);
    const late = cached.get();
    await clock.advance(100);
    expect(new Set(await Promise.all([...early, late]))).toEqual(new Set([await early[0]]));
    expect(reads).toBe(1);
  });

  it('keeps the same value until its time after the end of the read is over', async () => {
    const first = cached.get();
    await clock.advance(1500);
    const value = await first;
    await clock.advance(KEPT_MS - 1);
    expect(await cached.get()).toBe(value);
    await clock.advance(1);
    const second = cached.get();
    await clock.advance(1500);
    expect(await second).toEqual({ read: 2 });
  });

  it('keeps a failure as long as a value, and no longer', async () => {
    fault = new Error('the registry is unreachable');
    const first = expect(cached.get()).rejects.toBe(fault);
    await clock.advance(1500);
    await first;
    await clock.advance(KEPT_MS - 1);
    await expect(cached.get()).rejects.toBe(fault);
    expect(reads).toBe(1);
    await clock.advance(1);
    fault = undefined;
    const second = cached.get();
    await clock.advance(1500);
    expect(await second).toEqual({ read: 2 });
  });

  it('keeps a failure that is thrown before the first wait', async () => {
    const fails = jest.fn<Promise<void>, []>(() => {
      throw new Error('no');
    });
    const failing = new CachedRead(fails, KEPT_MS, clock);
    await expect(failing.get()).rejects.toThrow('no');
    await expect(failing.get()).rejects.toThrow('no');
    expect(fails).toHaveBeenCalledTimes(1);
    await clock.advance(KEPT_MS);
    await expect(failing.get()).rejects.toThrow('no');
    expect(fails).toHaveBeenCalledTimes(2);
  });
});
