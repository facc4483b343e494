import { FakeClock } from '../../clock/fake-clock';
import { MAX_WAITING, WaitQueue, type WaitEnd } from './wait-queue';

const WAIT_MS = 1000;
const ROOM = 256;
const PATIENCE_MS = 10;
const CROWDED_MS = 1000;
/** From when on the store counts as late. */
const LATE_MS = 500;

let clock: FakeClock;
let line: WaitQueue;
let ends: (WaitEnd | undefined)[];

beforeEach(() => {
  clock = new FakeClock();
  line = new WaitQueue(clock, WAIT_MS);
  ends = [];
});

function join(count = 1): void {
  for (let i = 0; i < count; i++) {
    const index = ends.push(undefined) - 1;
    void line.wait(clock.monotonic() + WAIT_MS, 1).then((end) => (ends[index] = end));
  }
}

const how = (end: WaitEnd | undefined): number => ends.filter((each) => each === end).length;

describe('WaitQueue', () => {
  it('wakes all waiting and all watching calls', async () => {
    join(3);
    let seen = false;
    void line.watch().then(() => (seen = true));
    await clock.advance(1);
    expect([how(undefined), seen]).toEqual([3, false]);
    line.wake();
    await clock.advance(0);
    expect([how('woken'), seen]).toEqual([3, true]);
    expect(clock.sleeping).toBe(0);
  });

  it('is idle without a call, a watcher and an overload of the last second', async () => {
    const state = (): boolean[] => [line.occupied, line.idle];
    expect(state()).toEqual([false, true]);
    join();
    expect(state()).toEqual([true, false]);
    line.wake();
    expect(state()).toEqual([false, true]);
    void line.watch();
    expect(state()).toEqual([false, false]);
    line.wake();
    join(ROOM);
    await clock.advance(LATE_MS);
    join();
    line.wake();
    await clock.advance(CROWDED_MS - 1);
    expect(state()).toEqual([false, false]);
    await clock.advance(1);
    expect(state()).toEqual([false, true]);
  });

  it('lets each wait until its own deadline', async () => {
    join();
    await clock.advance(400);
    join();
    await clock.advance(WAIT_MS - 400);
    expect(ends).toEqual(['late', undefined]);
    await clock.advance(400);
    expect(ends).toEqual(['late', 'late']);
  });

  it('evicts no call while there is room', async () => {
    join(ROOM);
    await clock.advance(WAIT_MS - 1);
    expect(how(undefined)).toBe(ROOM);
    await clock.advance(1);
    expect(how('late')).toBe(ROOM);
  });

  it('evicts no call of a burst before the store is late', async () => {
    join(40 * ROOM);
    await clock.advance(LATE_MS - 1);
    join(ROOM);
    await clock.advance(PATIENCE_MS);
    expect(how(undefined)).toBe(41 * ROOM);
    line.wake();
    await clock.advance(0);
    expect(how('woken')).toBe(41 * ROOM);
  });

  it('evicts older calls for newer ones while the store is late', async () => {
    join(ROOM);
    await clock.advance(LATE_MS - 1);
    join();
    await clock.advance(0);
    expect(how('evicted')).toBe(0);
    await clock.advance(1);
    join();
    await clock.advance(0);
    expect([how('evicted'), how(undefined)]).toEqual([ROOM, 2]);
    line.wake();
    await clock.advance(0);
    expect(how('woken')).toBe(2);
  });

  it('measures how late the store is from the end of an allocation on', async () => {
    join(ROOM + 1);
    await clock.advance(LATE_MS - 1);
    line.wake();
    await clock.advance(0);
    join(ROOM + 1);
    await clock.advance(PATIENCE_MS);
    join();
    await clock.advance(0);
    expect(how('evicted')).toBe(0);
  });

  it('does not count a time in which the burst itself blocks the event loop', async () => {
    join(ROOM);
    clock.pause(2 * WAIT_MS);
    join(ROOM);
    expect(how('evicted')).toBe(0);
    line.wake();
    await clock.advance(0);
    expect(how('woken')).toBe(2 * ROOM);
  });

  it('refuses no call because the burst itself blocked the event loop for longer than the wait limit', async () => {
    join(10 * ROOM);
    clock.pause(WAIT_MS + 1);
    await clock.advance(WAIT_MS / 2);
    expect(how(undefined)).toBe(10 * ROOM);
    line.wake();
    await clock.advance(0);
    expect(how('woken')).toBe(10 * ROOM);
  });

  it('needs one timer for the calls, and one to see whether the store is late', () => {
    join(10_000);
    expect(clock.sleeping).toBe(2);
    line.wake();
    expect(clock.sleeping).toBe(0);
  });

  it('refuses a call that waits again at its own deadline, also behind newer calls', async () => {
    const deadline = clock.monotonic() + WAIT_MS;
    await clock.advance(WAIT_MS - 10);
    join();
    let end: WaitEnd | undefined;
    void line.wait(deadline, 1).then((how) => (end = how));
    await clock.advance(10);
    expect([end, ...ends]).toEqual(['late', undefined]);
  });

  describe('while it is overloaded', () => {
    beforeEach(async () => {
      join(ROOM);
      await clock.advance(LATE_MS);
      join();
      line.wake();
      await clock.advance(0);
    });

    it('limits waits, and not afterwards', async () => {
      await clock.advance(CROWDED_MS - 1);
      join();
      await clock.advance(PATIENCE_MS - 1);
      expect(ends.at(-1)).toBeUndefined();
      await clock.advance(1);
      expect(ends.at(-1)).toBe('evicted');
      join();
      await clock.advance(PATIENCE_MS);
      expect(ends.at(-1)).toBeUndefined();
      await clock.advance(WAIT_MS);
      expect(ends.at(-1)).toBe('late');
    });

    it('ends at that time', async () => {
      await clock.advance(CROWDED_MS);
      join();
      await clock.advance(PATIENCE_MS);
      expect(ends.at(-1)).toBeUndefined();
    });

    it('counts the wait from the start of the call, even after a spurious wake-up', async () => {
      const deadline = clock.monotonic() + WAIT_MS;
      await clock.advance(PATIENCE_MS - 1);
      let end: WaitEnd | undefined;
      void line.wait(deadline, 1).then((how) => (end = how));
      await clock.advance(1);
      expect(end).toBe('evicted');
    });

    it('limits the wait of newer calls, and of one that waits again before them', async () => {
      const deadline = clock.monotonic() + WAIT_MS;
      await clock.advance(PATIENCE_MS - 1);
      join();
      let end: WaitEnd | undefined;
      void line.wait(deadline, 1).then((how) => (end = how));
      await clock.advance(1);
      expect([end, ends.at(-1)]).toEqual(['evicted', undefined]);
      await clock.advance(PATIENCE_MS - 1);
      expect(ends.at(-1)).toBe('evicted');
    });
  });

  it('refuses calls beyond its limit, whether or not the store is late', async () => {
    join(MAX_WAITING + 1);
    await clock.advance(0);
    expect([how('evicted'), ends.at(-1)]).toEqual([1, 'evicted']);
    line.wake();
    await clock.advance(0);
    expect(how('woken')).toBe(MAX_WAITING);
  });

  it('adds up the IDs that its calls wait for', async () => {
    void line.wait(clock.monotonic() + WAIT_MS, 3);
    await clock.advance(1);
    void line.wait(clock.monotonic() + WAIT_MS, 4);
    expect(line.ids).toBe(7);
    await clock.advance(WAIT_MS - 1);
    expect(line.ids).toBe(4);
    line.wake();
    expect(line.ids).toBe(0);
  });
});
