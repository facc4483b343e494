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

  describe('of work that ends when it is told', () => {
    let clock: FakeClock;
    let left: number;
    let ends: ((isAnswered: boolean) => void)[];
    let sender: PacedSender;

    beforeEach(() => {
      clock = new FakeClock();
      left = 0;
      ends = [];
      const send = (): Promise<boolean> => {
        left--;
        return new Promise((resolve) => ends.push(resolve));
      };
      sender = new PacedSender(clock, 4, { isReady: () => left > 0, send });
    });

    /** Sends `count` at once, which all last this long. */
    async function measure(count: number, ms: number): Promise<void> {
      left = count;
      sender.wake();
      await clock.advance(ms);
      for (const end of ends.splice(0)) end(true);
      await clock.advance(0);
    }

    it('waits for the calls of its tick', async () => {
      left = 1;
      sender.wake();
      expect([sender.isStarting, ends.length]).toEqual([true, 0]);
      await clock.advance(0);
      expect([sender.isStarting, ends.length]).toEqual([false, 1]);
    });

    it('has no more than its limit in flight, and goes on when one has ended', async () => {
      left = 6;
      sender.wake();
      await clock.advance(1000);
      expect(ends).toHaveLength(4);
      sender.wake();
      expect(sender.isStarting).toBe(false);
      ends[0]!(true);
      await clock.advance(0);
      expect(ends).toHaveLength(5);
      ends[1]!(false);
      await clock.advance(1000 / 4);
      expect(ends).toHaveLength(6);
    });

    it('sends the next one at its distance, without another call', async () => {
      await measure(1, 100);
      await measure(2, 100);
      left = 3;
      sender.wake();
      await clock.advance(0);
      expect(ends).toHaveLength(1);
      sender.wake();
      expect([sender.isStarting, clock.sleeping]).toEqual([false, 1]);
      await clock.advance(24);
      expect(ends).toHaveLength(1);
      await clock.advance(1);
      expect(ends).toHaveLength(2);
      await clock.advance(25);
      expect(ends).toHaveLength(3);
    });
  });
});
