import { FakeClock } from '../clock/fake-clock';
import { PeriodicTask, Ticker } from './periodic-task';
import { SystemClock } from '../clock/clock';

describe('PeriodicTask', () => {
  let clock: FakeClock;
  let errors: unknown[];

  beforeEach(() => {
    clock = new FakeClock(5000);
    errors = [];
  });

  function task(action: () => Promise<void>): PeriodicTask {
    return new PeriodicTask('job', action, clock, (error) => errors.push(error));
  }

  it('has done nothing at first', () => {
    expect(task(() => Promise.resolve()).snapshot()).toEqual({
      name: 'job',
      running: false,
      runs: 0,
      failures: 0,
      failuresInRow: 0,
      lastSuccessAt: undefined,
      lastError: undefined,
    });
  });

  it('joins the current run instead of overlapping it', async () => {
    const job = task(() => clock.sleep(10));
    const first = job.run();
    const second = job.run();
    expect(job.snapshot()).toMatchObject({ running: true, runs: 1 });
    await clock.advance(10);
    await Promise.all([first, second]);
    expect(job.snapshot()).toMatchObject({ running: false, runs: 1, lastSuccessAt: 5010 });
    const third = job.run();
    await clock.advance(10);
    await third;
    expect(job.snapshot()).toMatchObject({ running: false, runs: 2, lastSuccessAt: 5020 });
  });

  it('keeps a failure, reports it and does not reject', async () => {
    const fault = new Error('no answer');
    const job = task(() => Promise.reject(fault));
    await expect(job.run()).resolves.toBeUndefined();
    await job.run();
    expect(errors).toEqual([fault, fault]);
    expect(job.snapshot()).toMatchObject({
      running: false,
      runs: 2,
      failures: 2,
      failuresInRow: 2,
      lastSuccessAt: undefined,
      lastError: 'no answer',
    });
  });

  it('keeps what an action throws before it returns a promise', async () => {
    const job = task(() => {
      throw new Error('at once');
    });
    await expect(job.run()).resolves.toBeUndefined();
    expect(job.snapshot()).toMatchObject({ running: false, failures: 1, lastError: 'at once' });
  });

  it('forgets the error and the failures in a row at the next success', async () => {
    let broken = true;
    const job = task(() => (broken ? Promise.reject(new Error('no answer')) : Promise.resolve()));
    await job.run();
    broken = false;
    await job.run();
    expect(job.snapshot()).toMatchObject({
      runs: 2,
      failures: 1,
      failuresInRow: 0,
      lastSuccessAt: 5000,
      lastError: undefined,
    });
  });

  it('does not reject when its listener throws', async () => {
    const deaf = (): void => {
      throw new Error('the log is full');
    };
    const job = new PeriodicTask('job', () => Promise.reject(new Error('no')), clock, deaf);
    await expect(job.run()).resolves.toBeUndefined();
    expect(job.snapshot()).toMatchObject({ failures: 1, lastError: expect.stringContaining('the log is full') });
  });

  it('waits for the current run when stopped', async () => {
    const job = task(() => clock.sleep(10));
    void job.run();
    let stopped = false;
    const stop = job.stop().then(() => (stopped = true));
    await clock.advance(9);
    expect(stopped).toBe(false);
    await clock.advance(1);
    await stop;
    expect(job.snapshot()).toMatchObject({ running: false, runs: 1 });
  });

  it('runs nothing after the stop', async () => {
    const job = task(() => Promise.resolve());
    await job.stop();
    await job.stop();
    await job.run();
    expect(job.snapshot().runs).toBe(0);
  });
});

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
