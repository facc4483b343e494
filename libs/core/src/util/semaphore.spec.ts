import { FakeClock } from '../clock/fake-clock';
import { Semaphore } from './semaphore';

describe('Semaphore', () => {
  const clock = new FakeClock();
  const soon = (): number => clock.monotonic() + 1000;

  it('admits as many callers as it has room for, and the next one when one leaves', async () => {
    const semaphore = new Semaphore(2, clock);
    expect(await semaphore.enter(soon())).toBe(true);
    expect(await semaphore.enter(soon())).toBe(true);
    const order: string[] = [];
    const first = semaphore.enter(soon()).then(() => order.push('first'));
    const second = semaphore.enter(soon()).then(() => order.push('second'));
    semaphore.leave();
    semaphore.leave();
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
  });

  it('removes a caller whose deadline has passed', async () => {
    const semaphore = new Semaphore(1, clock);
    await semaphore.enter(soon());
    const late = semaphore.enter(soon());
    await clock.advance(1000);
    expect(await late).toBe(false);
    semaphore.leave();
    expect(await semaphore.enter(soon())).toBe(true);
  });

  it('lets a caller without a deadline wait', async () => {
    const semaphore = new Semaphore(1, clock);
    await semaphore.enter();
    const patient = semaphore.enter();
    await clock.advance(3_600_000);
    semaphore.leave();
    expect(await patient).toBe(true);
  });

  it('refuses callers at once when the queue is full', async () => {
    const semaphore = new Semaphore(0, clock, 10);
    const waiting = Array.from({ length: 10 }, () => semaphore.enter(soon()));
    expect(await semaphore.enter(soon())).toBe(false);
    await clock.advance(1000);
    expect((await Promise.all(waiting)).includes(true)).toBe(false);
  });
});
