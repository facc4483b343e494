import { setTimeout as sleep } from 'node:timers/promises';
import { type SegmentStore, SystemClock } from '@leaf-ids/core';
import { IdleRetries, LoadTotals, systemRandom, UsedSources } from '@leaf-ids/core/internal';
import { StrictLine, StrictTag } from '../../../libs/core/src/segment/buffer/strict-tag';
import { sqlFixture } from '../../support/contract/sql-stores';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';

const CALLERS = 64;
/** Mean pause of a caller between two calls, in milliseconds: without it, all of them would call at the same moment. */
const PAUSE_MS = 4;
const SECONDS = 2;
/** The limits take turns, so that other work on the machine slows down each of them. */
const ROUNDS = 3;
const LIMITS = [1, 2, 4];
const TAG = 'order';

interface Load {
  readonly p50: number;
  readonly p99: number;
  readonly statementP50: number;
  readonly perSecond: number;
}

/** Times of calls and of the statements that they share, in milliseconds. */
async function load(store: SegmentStore, maxInFlight: number): Promise<Load> {
  const clock = new SystemClock();
  const [calls, statements]: [number[], number[]] = [[], []];
  const timed = async <T>(times: number[], act: () => Promise<T>): Promise<T> => {
    const begunAt = clock.monotonic();
    const result = await act();
    times.push(clock.monotonic() - begunAt);
    return result;
  };
  const allocateAll: SegmentStore['allocateAll'] = (requests) => timed(statements, () => store.allocateAll(requests));
  const context = {
    ...{ store, clock, random: systemRandom, closing: new AbortController().signal, onLoadFailed: () => undefined },
    ...{ options: { prefetchRatio: 0.1, waitMs: 60_000, durationMs: 900_000, maxStep: 1_000_000 } },
    ...{ idleRetries: new IdleRetries(clock), used: new UsedSources(), totals: new LoadTotals() },
  };
  const tag = new StrictTag(TAG, context, new StrictLine({ allocateAll }, clock, maxInFlight));
  const end = clock.monotonic() + SECONDS * 1000;
  const caller = async (): Promise<void> => {
    while (clock.monotonic() < end) {
      await sleep(2 * PAUSE_MS * Math.random());
      await timed(calls, () => tag.take());
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const [p50, p99] = [quantile(calls, 0.5), quantile(calls, 0.99)];
  return { p50, p99, statementP50: quantile(statements, 0.5), perSecond: calls.length / SECONDS };
}

function quantile(times: readonly number[], share: number): number {
  return [...times].sort((one, other) => one - other)[Math.floor(share * times.length)] ?? NaN;
}

describe.each([
  ['mariadb', () => startMariadb()],
  ['postgres', () => startPostgres()],
] as const)('calls of a strict tag under load on %s', (name, start) => {
  let server: MariadbServer | PostgresServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.stop());

  /** The loads with each limit, through a network that delays each packet. */
  async function loads(delayMs: number): Promise<Load[]> {
    const url = await server.createDatabase();
    const proxy = await TcpProxy.start(server.port);
    const database = await sqlFixture(url.replace(/:\d+\//, `:${proxy.port}/`), () => proxy.stop());
    try {
      await database.putRow(TAG, 1n, 1000);
      await database.execute(`UPDATE leaf_alloc SET ordering = 'strict' WHERE biz_tag = '${TAG}'`);
      proxy.delay(delayMs);
      const rounds: Load[][] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const loads: Load[] = [];
        for (const limit of LIMITS) loads.push(await load(database.store, limit));
        rounds.push(loads);
      }
      const measured = LIMITS.map((_, index) =>
        rounds
          .map((loads) => loads[index]!)
          .reduce((best, one) => ({
            ...(one.p50 < best.p50 ? one : best),
            perSecond: Math.max(one.perSecond, best.perSecond),
          })),
      );
      for (const [index, { p50, p99, statementP50, perSecond }] of measured.entries()) {
        const figures = `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)}, of a statement ${statementP50.toFixed(2)} ms`;
        process.stdout.write(
          `${name}, network ${delayMs} ms, up to ${LIMITS[index]} in flight: ${figures}; ${Math.round(perSecond)} calls/s\n`,
        );
      }
      return measured;
    } finally {
      await database.close();
    }
  }

  it('wait for less of another statement where the network is what takes time', async () => {
    const [one, , four] = await loads(5);
    expect(four!.p50).toBeLessThan(0.9 * one!.p50);
    expect(four!.perSecond).toBeGreaterThan(one!.perSecond);
  }, 120_000);

  it("do not get in each other's way where it is the database", async () => {
    const [one, , four] = await loads(0);
    expect(four!.p50).toBeLessThan(2 * one!.p50);
  }, 120_000);
});
