import { FakeClock } from '../clock/fake-clock';
import { withinDeadline } from './deadline';

describe('withinDeadline', () => {
  it('is true when the promise is fulfilled in time, and leaves no sleep behind', async () => {
    const clock = new FakeClock();
    await expect(withinDeadline(Promise.resolve('anything'), 10, clock)).resolves.toBe(true);
    await clock.advance(0);
    expect(clock.sleeping).toBe(0);
  });

  it('is false when the deadline comes first', async () => {
    const clock = new FakeClock();
    const answer = withinDeadline(clock.sleep(20), 10, clock);
    await clock.advance(10);
    await expect(answer).resolves.toBe(false);
  });

  it('counts the deadline from monotonic time', async () => {
    const clock = new FakeClock();
    await clock.advance(100);
    const answer = withinDeadline(clock.sleep(9), 110, clock);
    clock.step(50_000);
    await clock.advance(9);
    await expect(answer).resolves.toBe(true);
  });

  it('is false immediately when the deadline has passed', async () => {
    const clock = new FakeClock();
    await clock.advance(10);
    await expect(withinDeadline(clock.sleep(1), 10, clock)).resolves.toBe(false);
  });

  it('counts only a part of a time in which the event loop was blocked', async () => {
    const clock = new FakeClock();
    const late = withinDeadline(clock.sleep(2100), 1000, clock);
    const reply = withinDeadline(clock.sleep(2050), 1000, clock);
    clock.pause(2000);
    await clock.advance(1050);
    await expect(reply).resolves.toBe(true);
    await expect(late).resolves.toBe(true);
    const never = withinDeadline(clock.sleep(10_000), clock.monotonic() + 1000, clock);
    clock.pause(2000);
    await clock.advance(899);
    expect(clock.sleeping).toBe(2);
    await clock.advance(1);
    await expect(never).resolves.toBe(false);
  });

  it('throws what the promise is rejected with in time', async () => {
    const clock = new FakeClock();
    const fault = new Error('refused');
    await expect(withinDeadline(Promise.reject(fault), 10, clock)).rejects.toBe(fault);
    await clock.advance(0);
    expect(clock.sleeping).toBe(0);
  });

  // Jest fails a test with an unhandled rejection, as Node ends a process.
  it('lets a rejection after the deadline pass unnoticed', async () => {
    const clock = new FakeClock();
    const late = clock.sleep(20).then(() => Promise.reject(new Error('too late')));
    const answer = withinDeadline(late, 10, clock);
    await clock.advance(30);
    await expect(answer).resolves.toBe(false);
  });

  it('lets a rejection pass unnoticed when the deadline had passed before', async () => {
    const clock = new FakeClock();
    const late = clock.sleep(20).then(() => Promise.reject(new Error('too late')));
    await expect(withinDeadline(late, 0, clock)).resolves.toBe(false);
    await clock.advance(30);
  });
});
