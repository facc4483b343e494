import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { FakeClock } from '@leaf-ids/core/testing';
import { FairQueue, Lane, type LaneLimits } from './lane';

const LIMITS: LaneLimits = { maxBegun: 2, holdMs: 1000, maxSlow: 2, maxWaiting: 3, waitMs: 5000, pauseFactor: 4 };

/** As much of a response as a lane needs. */
class FakeResponse extends EventEmitter {
  destroyed = false;

  close(): void {
    this.destroyed = true;
    this.emit('close');
  }

  destroy(): void {
    this.close();
  }
}

describe('Lane', () => {
  let clock: FakeClock;
  let activeMs: number;
  let isQuiet: boolean;
  let log: string[];

  beforeEach(() => {
    clock = new FakeClock();
    activeMs = 0;
    isQuiet = true;
    log = [];
  });

  const makeLane = (limits: Partial<LaneLimits> = {}): Lane =>
    new Lane(
      { ...LIMITS, ...limits },
      clock,
      () => isQuiet,
      () => activeMs,
    );

  function enter(lane: Lane, name: string, costMs = 0, endless = false, client = 'client'): FakeResponse {
    const response = new FakeResponse();
    const begin = (): void => {
      log.push(name);
      activeMs += costMs;
    };
    const refuse = (): void => void log.push(`${name} refused`);
    const entered = lane.enter({ client, response: response as unknown as ServerResponse, begin, refuse, endless });
    if (!entered) log.push(`${name} turned away`);
    return response;
  }

  async function turns(count = 10): Promise<void> {
    for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
  }

  it('begins so many at once, each in a turn of its own, and the next when one ends', async () => {
    const lane = makeLane();
    const one = enter(lane, 'one');
    enter(lane, 'two');
    enter(lane, 'three');
    expect(log).toStrictEqual([]);
    await turns(1);
    expect(log).toEqual(['one']);
    await turns();
    expect(log).toEqual(['one', 'two']);
    one.close();
    await turns();
    expect(log).toEqual(['one', 'two', 'three']);
  });

  it('turns away those beyond the queue, and refuses those that waited too long', async () => {
    const lane = makeLane({ holdMs: 60_000 });
    for (const name of ['one', 'two']) enter(lane, name);
    await turns();
    for (const name of ['three', 'four', 'five', 'six']) enter(lane, name);
    await turns();
    await clock.advance(5000);
    await turns();
    expect(log).toEqual(['one', 'two', 'six turned away', 'three refused', 'four refused', 'five refused']);
  });

  it('pauses four times as long as a request kept the event loop', async () => {
    const lane = makeLane();
    enter(lane, 'one', 25).close();
    expect(log).toStrictEqual([]);
    enter(lane, 'two', 25);
    await turns();
    // A request whose client is gone costs nothing.
    expect(log).toEqual(['two']);
    const three = enter(lane, 'three', 10);
    await turns();
    three.close();
    enter(lane, 'four');
    await turns();
    await clock.advance(39);
    await turns();
    expect(log).toEqual(['two', 'three']);
    await clock.advance(1);
    await turns();
    expect(log).toEqual(['two', 'three', 'four']);
  });

  it('yields to IDs that wait, half a second at most', async () => {
    isQuiet = false;
    const lane = makeLane();
    enter(lane, 'one');
    await turns();
    await clock.advance(499);
    await turns();
    expect(log).toStrictEqual([]);
    await clock.advance(1);
    await turns();
    expect(log).toEqual(['one']);
  });

  it('lets no slow reader hold its place, and keeps so many of them', async () => {
    const lane = makeLane({ pauseFactor: 0 });
    const slow = ['one', 'two', 'three', 'four'].map((name) => {
      const response = enter(lane, name);
      return response;
    });
    for (let n = 0; n < 3; n++) {
      await turns();
      await clock.advance(1000);
    }
    await turns();
    expect(log.slice(0, 3)).toEqual(['four turned away', 'one', 'two']);
    enter(lane, 'five');
    await turns();
    await clock.advance(1000);
    await turns();
    expect(slow.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false]);
    expect(log).toContain('five');
  });

  it('gives the clients turns, and a full queue to those that have less in it', async () => {
    const lane = makeLane({ maxWaiting: 4 });
    const of = (client: string, ...names: string[]): FakeResponse[] =>
      names.map((name) => enter(lane, name, 0, false, client));
    of('a', 'a1', 'a2');
    await turns();
    of('a', 'a3', 'a4', 'a5', 'a6', 'a7');
    of('b', 'b1', 'b2');
    of('c', 'c1');
    expect(log).toEqual(['a1', 'a2', 'a7 turned away', 'a6 refused', 'a5 refused', 'a4 refused']);
    await clock.advance(1000);
    await turns();
    await clock.advance(1000);
    await turns();
    expect(log.slice(6)).toEqual(['b1', 'a3', 'c1', 'b2']);
  });

  it('cuts off the responses of the client that reads most of them slowly', async () => {
    const lane = makeLane({ pauseFactor: 0, maxBegun: 4, maxWaiting: 4 });
    const other = enter(lane, 'other', 0, false, 'other');
    const greedy = ['one', 'two', 'three'].map((name) => enter(lane, name, 0, false, 'greedy'));
    await turns();
    await clock.advance(1000);
    await turns();
    expect([other, ...greedy].map(({ destroyed }) => destroyed)).toEqual([false, true, true, false]);
  });

  it('gives the place of an endless response to the next at once', async () => {
    const lane = makeLane({ maxBegun: 1, pauseFactor: 0 });
    const stream = enter(lane, 'stream', 0, true);
    enter(lane, 'one');
    await turns();
    await clock.advance(0);
    await turns();
    expect([log, stream.destroyed]).toEqual([['stream', 'one'], false]);
  });
});

const idle = (): number => 0;

function drain(queue: FairQueue<string>, loadOf: (client: string) => number = idle): string[] {
  const order: string[] = [];
  for (let item = queue.peek(loadOf); item !== undefined; item = queue.peek(loadOf)) {
    order.push(item);
    queue.remove(item[0]!);
  }
  return order;
}

describe('FairQueue', () => {
  let queue: FairQueue<string>;
  beforeEach(() => {
    queue = new FairQueue();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'a4', 'c1', 'b2']) queue.push(item[0]!, item);
  });

  it('serves one item of each client after the other', () => {
    expect([queue.size, queue.heads]).toEqual([7, ['a1', 'b1', 'c1']]);
    expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
    expect([queue.size, queue.heads]).toEqual([0, []]);
  });

  it('serves the client with the least in progress first', () => {
    const load: Record<string, number> = { a: 2, b: 1, c: 1 };
    expect(drain(queue, (client) => load[client]!)).toEqual(['b1', 'c1', 'b2', 'a1', 'a2', 'a3', 'a4']);
  });

  it('makes room at the cost of the client that has most, and never for that one', () => {
    expect(queue.evictFor('a')).toBeUndefined();
    expect(queue.evictFor('d')).toBe('a4');
    expect(queue.evictFor('b')).toBeUndefined();
    expect(queue.evictFor('d')).toBe('a3');
    expect(queue.evictFor('d')).toBe('a2');
    expect(queue.evictFor('d')).toBe('b2');
    expect(queue.evictFor('d')).toBeUndefined();
    expect([queue.size, drain(queue)]).toEqual([3, ['a1', 'b1', 'c1']]);
  });
});
