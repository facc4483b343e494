import { FakeClock } from '@leaf-ids/core/testing';
import { ConnectionLine } from './connection-line';

describe('ConnectionLine', () => {
  const clock = new FakeClock();
  const soon = (): number => clock.monotonic() + 1000;

  it('admits one caller a connection, and the next one when a connection is free', async () => {
    const line = new ConnectionLine(2, clock);
    expect(await line.enter(soon())).toBe(true);
    expect(await line.enter(soon())).toBe(true);
    const order: string[] = [];
    const first = line.enter(soon()).then(() => order.push('first'));
    const second = line.enter(soon()).then(() => order.push('second'));
    line.leave();
    line.leave();
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
  });

  it('removes a caller whose deadline has passed', async () => {
    const line = new ConnectionLine(1, clock);
    await line.enter(soon());
    const late = line.enter(soon());
    await clock.advance(1000);
    expect(await late).toBe(false);
    line.leave();
    expect(await line.enter(soon())).toBe(true);
  });

  it('refuses callers at once when the queue is full', async () => {
    const line = new ConnectionLine(0, clock);
    const waiting = Array.from({ length: 10_000 }, () => line.enter(soon()));
    expect(await line.enter(soon())).toBe(false);
    await clock.advance(1000);
    expect((await Promise.all(waiting)).includes(true)).toBe(false);
  });
});
