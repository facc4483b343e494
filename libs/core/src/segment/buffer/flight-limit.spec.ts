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
});
