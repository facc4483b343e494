import { FakeClock } from '../clock/fake-clock';
import type { RandomSource } from './random';
import { backoffMs, retry, type RetryOptions } from './retry';

const lowest: RandomSource = () => 0;
const highest: RandomSource = (bound) => bound - 1;

describe('backoffMs', () => {
  it.each([
    [1, 50, 100],
    [2, 100, 200],
    [3, 200, 400],
    [4, 400, 800],
    [5, 500, 1000],
    [6, 500, 1000],
    [1_000_000, 500, 1000],
  ])('waits after failure %i between %i and %i ms', (attempt, low, high) => {
    const options = { firstMs: 100, maxMs: 1000 };
    expect(backoffMs(attempt, options, lowest)).toBe(low);
    expect(backoffMs(attempt, options, highest)).toBe(high);
  });

  it('never leaves the bounds for odd waits', () => {
    expect(backoffMs(1, { firstMs: 5, maxMs: 5 }, lowest)).toBe(2.5);
    expect(backoffMs(1, { firstMs: 5, maxMs: 5 }, highest)).toBeLessThanOrEqual(5);
  });
});

describe('retry', () => {
  const options: RetryOptions = { attempts: 3, firstMs: 100, maxMs: 1000, isRetryable: () => true };
  let clock: FakeClock;

  beforeEach(() => {
    clock = new FakeClock();
  });

  /** Fails `failures` times, then succeeds; records the attempt numbers. */
  function flaky(failures: number): { action: (attempt: number) => Promise<string>; attempts: number[] } {
    const attempts: number[] = [];
    return {
      attempts,
      action: (attempt) => {
        attempts.push(attempt);
        return attempts.length <= failures ? Promise.reject(new Error(`fault ${attempt}`)) : Promise.resolve('done');
      },
    };
  }

  it('runs once when the action succeeds', async () => {
    const { action, attempts } = flaky(0);
    await expect(retry(action, options, clock, lowest)).resolves.toBe('done');
    expect(attempts).toEqual([1]);
  });

  it('waits between attempts and reports each failure', async () => {
    const { action, attempts } = flaky(2);
    const told: unknown[] = [];
    const onRetry = (error: unknown, attempt: number, waitMs: number): void =>
      void told.push([(error as Error).message, attempt, waitMs]);
    const answer = retry(action, { ...options, onRetry }, clock, highest);
    await clock.advance(99);
    expect(attempts).toEqual([1]);
    await clock.advance(1);
    expect(attempts).toEqual([1, 2]);
    await clock.advance(200);
    await expect(answer).resolves.toBe('done');
    expect(told).toEqual([
      ['fault 1', 1, 100],
      ['fault 2', 2, 200],
    ]);
  });

  it('throws the last error when the attempts are used up', async () => {
    const { action, attempts } = flaky(9);
    const answer = expect(retry(action, options, clock, lowest)).rejects.toThrow('fault 3');
    await clock.advance(10_000);
    await answer;
    expect(attempts).toEqual([1, 2, 3]);
  });

  it('does not retry a non-retryable error', async () => {
    const { action, attempts } = flaky(9);
    const answer = retry(action, { ...options, isRetryable: () => false }, clock, lowest);
    await expect(answer).rejects.toThrow('fault 1');
    expect(attempts).toEqual([1]);
    expect(clock.sleeping).toBe(0);
  });

  it('stops during a wait when the signal aborts', async () => {
    const { action, attempts } = flaky(9);
    const stop = new AbortController();
    const answer = retry(action, { ...options, signal: stop.signal }, clock, lowest);
    await clock.advance(10);
    stop.abort();
    await expect(answer).rejects.toThrow('fault 1');
    expect(attempts).toEqual([1]);
    expect(clock.sleeping).toBe(0);
  });

  it('does not start a wait when the signal has aborted', async () => {
    const { action, attempts } = flaky(9);
    const told: number[] = [];
    const onRetry = (_: unknown, attempt: number): void => void told.push(attempt);
    const answer = retry(action, { ...options, onRetry, signal: AbortSignal.abort() }, clock, lowest);
    await expect(answer).rejects.toThrow('fault 1');
    expect([attempts, told]).toEqual([[1], []]);
  });
});
