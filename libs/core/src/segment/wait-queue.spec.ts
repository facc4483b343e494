import { FakeClock } from '../clock/fake-clock';
import { WaitQueue, type WaitEnd } from './wait-queue';

const WAIT_MS = 1000;
const ROOM = 256;
const PATIENCE_MS = 10;
const CROWDED_MS = 1000;

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
    void line.wait(clock.monotonic() + WAIT_MS).then((end) => (ends[index] = end));
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

  it('evicts older calls for newer ones when it is too long', async () => {
    join(ROOM);
    await clock.advance(PATIENCE_MS - 1);
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

  it('limits waits while it is overloaded, and not afterwards', async () => {
    join(ROOM + 1);
    line.wake();
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

  it('is overloaded before that time, and not at it', async () => {
    join(ROOM + 1);
    line.wake();
    await clock.advance(CROWDED_MS);
    join();
    await clock.advance(PATIENCE_MS);
    expect(ends.at(-1)).toBeUndefined();
  });

  it('counts the wait from the start of the call, even after a spurious wake-up', async () => {
    const deadline = clock.monotonic() + WAIT_MS;
    join(ROOM + 1);
    line.wake();
    await clock.advance(PATIENCE_MS - 1);
    let end: WaitEnd | undefined;
    void line.wait(deadline).then((how) => (end = how));
    await clock.advance(1);
    expect(end).toBe('evicted');
  });
});
