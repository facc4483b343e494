import { FakeClock } from '../clock/fake-clock';
import { WaitingLine, type WaitEnd } from './waiting-line';

const WAIT_MS = 1000;
const ROOM = 256;
const PATIENCE_MS = 25;

let clock: FakeClock;
let line: WaitingLine;
let ends: (WaitEnd | undefined)[];

beforeEach(() => {
  clock = new FakeClock();
  line = new WaitingLine(clock, WAIT_MS);
  ends = [];
});

function join(count = 1): void {
  for (let i = 0; i < count; i++) {
    const index = ends.push(undefined) - 1;
    void line.wait(clock.monotonic() + WAIT_MS).then((end) => (ends[index] = end));
  }
}

const how = (end: WaitEnd | undefined): number => ends.filter((each) => each === end).length;

describe('WaitingLine', () => {
  it('wakes all who wait, and all who watch', async () => {
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

  it('disturbs nobody while there is room, and no burst however large', async () => {
    join(ROOM);
    await clock.advance(PATIENCE_MS);
    expect(how(undefined)).toBe(ROOM);
    line.wake();
    await clock.advance(0);
    ends = [];
    join(10 * ROOM);
    await clock.advance(PATIENCE_MS);
    expect(how(undefined)).toBe(10 * ROOM);
  });

  it('has the oldest give way to newer ones, when they have waited and the line is long', async () => {
    join(ROOM);
    await clock.advance(PATIENCE_MS - 1);
    join();
    await clock.advance(0);
    expect(how('displaced')).toBe(0);
    await clock.advance(1);
    join(2);
    await clock.advance(0);
    // One for each newcomer, and one for the place that the line was too long by.
    expect(ends.slice(0, 3)).toEqual(['displaced', 'displaced', 'displaced']);
    expect([how('displaced'), how(undefined)]).toEqual([3, ROOM]);
    line.wake();
    await clock.advance(0);
    expect(how('woken')).toBe(ROOM);
  });

  it('counts the wait from the begin of the call, also when it has been woken for nothing', async () => {
    const deadline = clock.monotonic() + WAIT_MS;
    await clock.advance(PATIENCE_MS);
    let end: WaitEnd | undefined;
    void line.wait(deadline).then((how) => (end = how));
    join(ROOM);
    await clock.advance(0);
    expect([end, how(undefined)]).toEqual(['displaced', ROOM]);
  });
});
