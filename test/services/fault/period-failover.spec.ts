import { MAX_RANGE_SIZE, sizeOf } from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS, SegmentIdGenerator, systemRandom } from '@leaf-ids/core/internal';
import { createSegmentStore, createTagStore, parseDatabaseUrl } from '@leaf-ids/persistence';
import { clock, connect } from '../../support/contract/sql-stores';
import { startMariadbPair } from '../../support/servers/mariadb-pair';
import { startPostgresPair } from '../../support/servers/postgres-pair';
import type { DatabasePair } from '../../support/servers/database-pair';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';

const STEP = 100;
const GAP_STEPS = 10;
const DAY_MS = 86_400_000;
const OPTIONS = { ...DEFAULT_SEGMENT_OPTIONS, waitMs: 20_000, maxStep: STEP };
const LIMIT_MS = 60_000;

/** What the test opened; closed in reverse order. */
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close();
});

/** A Leaf server on the database behind the proxy, with all numbers that it issued. */
class Server {
  private constructor(
    private readonly generator: SegmentIdGenerator,
    private readonly given: string[],
  ) {}

  static async start(url: string, given: string[], gapSteps = GAP_STEPS): Promise<Server> {
    const dataSource = await connect(parseDatabaseUrl(url), false);
    const ignore = (): void => undefined;
    const store = createSegmentStore(dataSource, { gapSteps, onFailover: ignore });
    const events = { onLoadFailed: ignore, onRefreshFailed: ignore };
    const generator = new SegmentIdGenerator(store, clock, systemRandom, OPTIONS, events);
    opened.push(async () => {
      await generator.close().catch(ignore);
      await dataSource.destroy();
    });
    return new Server(generator, given);
  }

  /** Retried while the database is unreachable. */
  take(count: number, at?: number): Promise<bigint> {
    return until(
      'numbers',
      async () => {
        try {
          const { period, ranges } = await this.generator.takeInPeriod('invoice', count, at);
          for (const { from, to } of ranges) for (let n = from; n <= to; n++) this.given.push(`${period} ${n}`);
          expect(ranges.reduce((sum, range) => sum + sizeOf(range), 0)).toBe(count);
          return ranges[0]!.from;
        } catch (error) {
          expect(error).toMatchObject({ retryable: true });
          return undefined;
        }
      },
      LIMIT_MS,
    );
  }
}

describe.each<[string, () => Promise<DatabasePair>]>([
  ['MariaDB', () => startMariadbPair({ semiSync: false })],
  ['PostgreSQL', () => startPostgresPair({ synchronous: false })],
])('a period whose row a failover of %s has lost', (_name, startPair) => {
  let pair: DatabasePair;
  let proxy: TcpProxy;
  let url: string;
  let given: string[];

  beforeEach(async () => {
    given = [];
    pair = await startPair();
    opened.push(() => pair.stop());
    const direct = await pair.primary.createDatabase();
    const dataSource = await connect(parseDatabaseUrl(direct));
    const tags = createTagStore(dataSource);
    await tags.create({ tag: 'invoice', step: STEP, reset: 'daily', zone: 'UTC' });
    await tags.create({ tag: 'other', step: STEP });
    // The guard has written its record before replication stops, as on any database in use.
    await createSegmentStore(dataSource, { gapSteps: GAP_STEPS, onFailover: () => undefined }).allocate('other', STEP);
    await dataSource.destroy();
    proxy = await TcpProxy.start(pair.primary.port);
    opened.push(() => proxy.stop());
    url = direct.replace(/:\d+\//, `:${proxy.port}/`);
    await pair.waitForReplica();
    await pair.stopReplication();
  });

  async function failOver(): Promise<void> {
    await pair.primary.kill();
    await pair.promote();
    proxy.retarget(pair.primary.port);
    proxy.cut();
  }

  it('gives no number twice, from servers old and new, today, tomorrow and of days past', async () => {
    const now = Date.now();
    const days = [now, now + DAY_MS, now - 200 * DAY_MS];
    const old = await Server.start(url, given);
    for (const at of days) {
      await old.take(1, at);
      await old.take(5 * STEP, at);
    }
    await failOver();
    const next = await Server.start(url, given);
    // The new server does not know the lost allocations; the old one still has numbers of them.
    await Promise.all(days.map((at) => next.take(3 * STEP, at)));
    await Promise.all(days.flatMap((at) => [old.take(3 * STEP, at), next.take(1, at), old.take(1, at)]));
    expect(given).toHaveLength(days.length * (1 + 5 * STEP + 3 * STEP + 3 * STEP + 2));
    expect(new Set(given).size).toBe(given.length);
  });

  it('begins where the tag says when nobody can have asked for it before', async () => {
    const old = await Server.start(url, given);
    await old.take(1);
    await failOver();
    const next = await Server.start(url, given);
    expect(await next.take(1)).toBe(1n + BigInt(GAP_STEPS * MAX_RANGE_SIZE));
    // The failover is long past.
    const dataSource = await connect(parseDatabaseUrl(url), false);
    await dataSource.query("UPDATE leaf_segment_server SET update_time = '2020-01-01 00:00:00'");
    await dataSource.destroy();
    expect(await next.take(1, Date.now() + DAY_MS)).toBe(1n);
  });
});
