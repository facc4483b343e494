import { FakeClock } from '@leaf-ids/core/testing';
import { IdleTimer, type Timed } from './idle-timer';

describe('IdleTimer', () => {
  const LIMIT_MS = 5000;
  let clock: FakeClock;
  let timer: IdleTimer;
  let told: number[];

  const add = (): Timed & { movedAt: number } => {
    const member = { idleLimitMs: LIMIT_MS, movedAt: 0, onIdle: () => told.push(clock.monotonic()) };
    timer.add(member);
    member.movedAt = timer.now;
    return member;
  };

  beforeEach(() => {
    clock = new FakeClock();
    timer = new IdleTimer(clock);
    told = [];
  });

  it.each([0, 1, 250, 499, 500])(
    'tells a connection at its limit, or up to a second later: added after %d ms',
    async (ms) => {
      timer.delete(add());
      const other = add();
      await clock.advance(ms);
      const member = add();
      const addedAt = clock.monotonic();
      timer.delete(other);
      await clock.advance(LIMIT_MS - 1);
      expect(told).toStrictEqual([]);
      await clock.advance(1001);
      timer.delete(member);
      expect(told[0]).toBeGreaterThanOrEqual(addedAt + LIMIT_MS);
    },
  );

  it('tells nothing while the connection moves', async () => {
    const member = add();
    for (let moves = 0; moves < 20; moves++) {
      await clock.advance(LIMIT_MS - 600);
      member.movedAt = timer.now;
    }
    expect(told).toStrictEqual([]);
    timer.delete(member);
  });

  it('rests without a connection', async () => {
    timer.delete(add());
    const { now } = timer;
    await clock.advance(60_000);
    expect(timer.now).toBe(now);
  });
});
