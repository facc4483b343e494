import { FakeClock } from '../../testing';
import { PacedSender } from './paced-sender';

/** Calls that come every millisecond, of which all that wait share the next statement; one statement takes this long. */
async function latencies(clock: FakeClock, ms: number, durationAt: (now: number) => number): Promise<number[]> {
  const found: number[] = [];
  let waiting: number[] = [];
  const send = async (): Promise<boolean> => {
    const calls = waiting;
    waiting = [];
    await clock.sleep(durationAt(clock.monotonic()));
    for (const since of calls) found.push(clock.monotonic() - since);
    return true;
  };
  const sender = new PacedSender(clock, 4, { isReady: () => waiting.length > 0, send });
  for (let now = 0; now < ms; now++) {
    waiting.push(clock.monotonic());
    sender.wake();
    await clock.advance(1);
  }
  await clock.advance(10_000);
  return found;
}

describe('PacedSender', () => {
  it.each([20, 200, 5000])('is as fast as before once a stall of %d ms has ended', async (stallMs) => {
    const clock = new FakeClock();
    const begunAt = clock.monotonic();
    const isStalled = (now: number): boolean => now - begunAt >= 1000 && now - begunAt < 1000 + stallMs;
    const end = begunAt + 1000 + stallMs;
    const all = await latencies(clock, 4000 + stallMs, (now) => (isStalled(now) ? end - now : 4));
    const last = all.slice(-1000);
    expect(last.reduce((sum, each) => sum + each, 0) / last.length).toBeLessThan(8);
    expect(all).toHaveLength(4000 + stallMs);
  });

  it('goes on after a failure of what it sends', async () => {
    const clock = new FakeClock();
    let left = 3;
    const send = (): Promise<boolean> => Promise.resolve(--left === 1);
    const sender = new PacedSender(clock, 1, { isReady: () => left > 0, send });
    sender.wake();
    await clock.advance(1);
    expect(left).toBe(0);
  });
});
