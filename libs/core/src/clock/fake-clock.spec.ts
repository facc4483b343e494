import { getEventListeners } from 'node:events';
import { FakeClock } from './fake-clock';

describe('FakeClock', () => {
  it('stands still until it is advanced', async () => {
    const clock = new FakeClock(5000);
    expect([clock.now(), clock.monotonic()]).toEqual([5000, 0]);
    await clock.advance(7);
    expect([clock.now(), clock.monotonic()]).toEqual([5007, 7]);
  });

  it('reads whole milliseconds', () => {
    const clock = new FakeClock(5000);
    clock.pause(0.7);
    expect(clock.now()).toBe(5000);
    expect(clock.monotonic()).toBeCloseTo(0.7);
    clock.pause(0.4);
    expect(clock.now()).toBe(5001);
  });

  it('ends a sleep at its due time, not before', async () => {
    const clock = new FakeClock();
    let awake = false;
    const sleep = clock.sleep(10).then(() => (awake = true));
    await clock.advance(9);
    expect(awake).toBe(false);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    expect(awake).toBe(true);
    expect(clock.sleeping).toBe(0);
    await sleep;
  });

  it('makes repeated calls until they are cancelled, and ends calls of one time in their order', async () => {
    const clock = new FakeClock();
    const calls: string[] = [];
    const first = clock.every(10, () => calls.push(`first at ${clock.monotonic()}`));
    clock.every(10, () => calls.push(`second at ${clock.monotonic()}`));
    await clock.advance(25);
    first.cancel();
    await clock.advance(10);
    expect(calls).toEqual([...['first at 10', 'second at 10', 'first at 20', 'second at 20'], 'second at 30']);
  });

  it('adds one listener to a signal, however many sleep', async () => {
    const alarm = new AbortController();
    const clock = new FakeClock();
    const [first, ...others] = Array.from({ length: 100 }, (_, index) => clock.sleep(index + 1, alarm.signal));
    expect(getEventListeners(alarm.signal, 'abort')).toHaveLength(1);
    await clock.advance(1);
    await first;
    expect(clock.sleeping).toBe(99);
    alarm.abort();
    await Promise.all(others);
    expect(clock.sleeping).toBe(0);
    expect(getEventListeners(alarm.signal, 'abort')).toStrictEqual([]);
  });

  it('removes its listener when the last sleep ends, and adds it again', async () => {
    const alarm = new AbortController();
    const clock = new FakeClock();
    for (const count of [2, 1]) {
      const sleeps = Array.from({ length: count }, () => clock.sleep(10, alarm.signal));
      expect(getEventListeners(alarm.signal, 'abort')).toHaveLength(1);
      await clock.advance(10);
      await Promise.all(sleeps);
      expect(getEventListeners(alarm.signal, 'abort')).toStrictEqual([]);
    }
  });

  it('ends sleeps in order of their due times', async () => {
    const clock = new FakeClock(0);
    const woken: [string, number][] = [];
    const sleeper = (name: string, ms: number): Promise<unknown> =>
      clock.sleep(ms).then(() => woken.push([name, clock.now()]));
    const all = Promise.all([sleeper('late', 30), sleeper('early', 10), sleeper('middle', 20)]);
    await clock.advance(100);
    await all;
    expect(woken).toEqual([
      ['early', 10],
      ['middle', 20],
      ['late', 30],
    ]);
    expect(clock.now()).toBe(100);
  });

  it('runs the reactions of an ended sleep before the next one ends', async () => {
    const clock = new FakeClock(0);
    const ticks: number[] = [];
    const loop = (async () => {
      for (let i = 0; i < 3; i++) {
        await clock.sleep(10);
        ticks.push(clock.now());
      }
    })();
    await clock.advance(30);
    await loop;
    expect(ticks).toEqual([10, 20, 30]);
  });

  it('ends a sleep immediately when its signal aborts', async () => {
    const clock = new FakeClock();
    const alarm = new AbortController();
    const sleep = clock.sleep(1000, alarm.signal);
    alarm.abort();
    await sleep;
    await clock.sleep(1000, alarm.signal);
    expect([clock.sleeping, clock.monotonic()]).toEqual([0, 0]);
  });

  it('steps the wall clock in both directions without affecting monotonic time and sleeps', async () => {
    const clock = new FakeClock(5000);
    let awake = false;
    const sleep = clock.sleep(10).then(() => (awake = true));
    clock.step(100);
    clock.step(-300);
    await clock.advance(0);
    expect([clock.now(), clock.monotonic(), awake]).toEqual([4800, 0, false]);
    await clock.advance(10);
    await sleep;
    expect(clock.now()).toBe(4810);
  });
});
