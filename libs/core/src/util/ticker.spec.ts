import { FakeClock } from '../clock/fake-clock';
import { SystemClock } from '../clock/system-clock';
import { Ticker } from './ticker';

describe('Ticker', () => {
  const run = jest.fn(() => Promise.resolve());
  beforeEach(() => run.mockClear());

  it('runs at intervals until it is stopped', async () => {
    const clock = new FakeClock();
    const ticker = new Ticker('job', run, { everyMs: 10 }, clock);
    ticker.start();
    ticker.start();
    await clock.advance(9);
    expect(run).toHaveBeenCalledTimes(0);
    await clock.advance(21);
    expect(run).toHaveBeenCalledTimes(3);
    await ticker.stop();
    await clock.advance(100);
    expect(run).toHaveBeenCalledTimes(3);
    expect(clock.sleeping).toBe(0);
  });

  it('runs at the start if wanted, and waits for a run under way at the stop', async () => {
    const clock = new FakeClock();
    let isDone = false;
    const slow = async (): Promise<void> => {
      await clock.sleep(5);
      isDone = true;
    };
    const ticker = new Ticker('job', slow, { everyMs: 10, atStart: true }, clock);
    ticker.start();
    const stop = ticker.stop();
    await clock.advance(5);
    await stop;
    expect(isDone).toBe(true);
  });

  it('ends when its timer is cleared', async () => {
    const ticker = new Ticker('job', run, { everyMs: 1 }, new SystemClock());
    ticker.start();
    clearInterval(ticker.timer);
    await new SystemClock().sleep(2);
    expect(run).not.toHaveBeenCalled();
    await ticker.stop();
    expect(ticker.timer).toBeUndefined();
  });
});
