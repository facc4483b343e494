import { type Flight, FlightLimit } from './flight-limit';

const MOST = 4;
/** Statements until the limit has settled. */
const LEARNING = 200;
const STATEMENTS = 2000;

/**
 * Always as many statements as there is room for. The database executes one at a time, which takes `executing`; the
 * network takes `travelling` of each. Returns the mean number of those in flight.
 */
function meanInFlight(limit: FlightLimit, executing: number, travelling: number): number {
  const inFlight: { readonly flight: Flight; readonly endsAt: number }[] = [];
  let [now, freeAt, sum] = [0, 0, 0];
  for (let ended = 0; ended < LEARNING + STATEMENTS; ended++) {
    for (let waitMs = 0; (waitMs = limit.waitMs(now)) + now <= (inFlight[0]?.endsAt ?? Infinity);) {
      now += waitMs;
      freeAt = Math.max(freeAt, now + travelling / 2) + executing;
      inFlight.push({ flight: limit.send(now), endsAt: freeAt + travelling / 2 });
    }
    if (ended >= LEARNING) sum += inFlight.length;
    const { flight, endsAt } = inFlight.shift()!;
    now = endsAt;
    limit.end(flight, now, true);
  }
  for (const { flight, endsAt } of inFlight) limit.end(flight, endsAt, true);
  return sum / STATEMENTS;
}

describe('FlightLimit', () => {
  it.each([
    [0.1, 2, 3.8, MOST],
    [0.5, 5, 3.8, MOST],
    [1, 0.1, 1, 1.3],
    [2, 1, 1, 1.3],
  ])(
    'when %d ms of execution follow on each other, and %d ms of network do not',
    (executing, travelling, least, most) => {
      const mean = meanInFlight(new FlightLimit(MOST), executing, travelling);
      expect(mean).toBeGreaterThanOrEqual(least);
      expect(mean).toBeLessThanOrEqual(most);
    },
  );

  it('follows a change of the database', () => {
    const limit = new FlightLimit(MOST);
    const means = [meanInFlight(limit, 1, 0.1), meanInFlight(limit, 0.1, 2), meanInFlight(limit, 1, 0.1)];
    expect(means.map((mean) => mean > 2)).toEqual([false, true, false]);
  });

  it('sends them at even distances while they overlap', () => {
    const limit = new FlightLimit(MOST);
    limit.end(limit.send(0), 10, true);
    const flights = [limit.send(10), limit.send(10)];
    for (const flight of flights) limit.end(flight, 22, true);
    limit.send(30);
    expect([limit.waitMs(30), limit.waitMs(33)]).toEqual([3, 0]);
  });

  it('lets one that is held up hold back no others', () => {
    const limit = new FlightLimit(MOST);
    meanInFlight(limit, 1, 0.1);
    limit.send(100_000);
    expect(limit.waitMs(100_000)).toBeGreaterThan(0);
    expect(limit.waitMs(100_000 + 50)).toBe(0);
  });

  it('learns nothing from statements that failed', () => {
    const limit = new FlightLimit(MOST);
    limit.end(limit.send(0), 1, true);
    for (let n = 0; n < 100; n++) {
      const flights = [limit.send(0), limit.send(0)];
      for (const flight of flights) limit.end(flight, 1000, false);
    }
    limit.send(0);
    expect(limit.waitMs(0)).toBe(0);
  });

  describe('of measured statements', () => {
    let limit: FlightLimit;
    let now: number;

    beforeEach(() => {
      limit = new FlightLimit(MOST);
      now = 0;
    });

    /** Statements that are sent together, and take this long; returns once they have ended. */
    function send(count: number, ms: number, isMeasured = true): void {
      const flights = Array.from({ length: count }, () => limit.send(now));
      now += ms;
      for (const flight of flights) limit.end(flight, now, isMeasured);
    }

    /** How long the next statement has to wait behind one that is sent now. */
    function waitMs(): number {
      const flight = limit.send(now);
      const wait = limit.waitMs(now);
      expect([limit.waitMs(now + wait / 2), limit.waitMs(now + 2 * wait)]).toEqual([wait / 2, 0]);
      limit.end(flight, now, false);
      return wait;
    }

    it('lets none wait behind nothing, and all behind as many as may be in flight', () => {
      expect(limit.waitMs(0)).toBe(0);
      const [first] = Array.from({ length: MOST }, () => limit.send(0));
      expect(limit.waitMs(1000)).toBe(Infinity);
      limit.end(first!, 1000, true);
      expect(limit.waitMs(1000)).not.toBe(Infinity);
    });

    it.each([
      [12, 16, 48],
      [12, 15.9, 15.9 / 4],
      [12, 4, 1],
    ])('of %d ms alone and %d ms among others lets the next wait for %d ms', (alone, among, wait) => {
      send(1, alone);
      expect(waitMs()).toBe(0);
      send(2, among);
      expect(waitMs()).toBeCloseTo(wait);
    });

    it('follows each new duration by an eighth', () => {
      send(1, 12);
      send(2, 100);
      send(1, 20);
      expect(waitMs()).toBe(4 * 13);
      send(1, 5, false);
      expect(waitMs()).toBe(4 * 13);
      send(1, 1);
      send(2, 28);
      expect(waitMs()).toBeCloseTo(4 * 11.5);
    });

    it('tries several statements after each 64 that were alone, until four have ended', () => {
      send(1, 12);
      send(2, 100);
      for (let ended = 3; ended < 63; ended++) send(1, 12);
      expect(waitMs()).toBe(48);
      send(1, 12);
      expect(waitMs()).toBe(4);
      send(1, 12);
      send(3, 100);
      expect(waitMs()).toBe(4);
      send(2, 100);
      expect(waitMs()).toBe(48);
    });

    it('tries one alone after each 64 statements, and sends several again once it has ended', () => {
      send(1, 12);
      for (let ended = 1; ended < 63; ended += 2) send(2, 12);
      expect(waitMs()).toBe(3);
      send(2, 12);
      expect(waitMs()).toBe(48);
      send(2, 12);
      expect(waitMs()).toBe(48);
      send(1, 12);
      expect(waitMs()).toBe(3);
    });
  });
});
