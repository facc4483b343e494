import { sqlFixture } from '../../support/contract/sql-stores';
import { ensureBuilt } from '../../support/build';
import { BuiltServers } from '../../support/servers/built-server';
import type { DatabasePair } from '../../support/servers/database-pair';
import { call } from '../../support/http/http';
import { startMariadbPair } from '../../support/servers/mariadb-pair';
import { metric } from '../../support/http/metrics';
import { startPostgresPair } from '../../support/servers/postgres-pair';
import { problemCode } from '../../support/http/problem';
import { stopwatch } from '../../support/starvation';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';

const TAG = 't';
const GET = `/api/segment/get/${TAG}`;
const STEP = 1000;
const BATCH = 50;
const WAIT_MS = 1000;
/** Half a second beyond the wait is promised, without what processes wait for a processor. */
const REFUSAL_LIMIT_MS = WAIT_MS + 500;
/** As in the chaos run. */
const RECOVERY_LIMIT_MS = 5000;
/** Long enough that the server has tried more than once and pauses between two tries. */
const REFUSALS = 3;
const CALLERS = 20;

interface Restart {
  readonly pair: DatabasePair;
  readonly proxy: TcpProxy;
}

interface Fault {
  readonly name: string;
  readonly begin: (world: Restart) => unknown;
  readonly end: (world: Restart) => unknown;
}

const FAULTS: readonly Fault[] = [
  { name: 'is blackholed', begin: ({ proxy }) => proxy.blackhole(), end: ({ proxy }) => proxy.heal() },
  {
    name: 'is killed and started again',
    begin: ({ pair }) => pair.primary.kill(),
    end: ({ pair }) => pair.restart(),
  },
  {
    name: 'is killed and its replica takes over',
    begin: ({ pair }) => pair.primary.kill(),
    end: async ({ pair, proxy }) => {
      await pair.promote();
      proxy.retarget(pair.primary.port);
    },
  },
];

const servers = new BuiltServers();
beforeAll(ensureBuilt);

describe.each([
  { database: 'MariaDB', start: (): Promise<DatabasePair> => startMariadbPair({ semiSync: true }) },
  { database: 'PostgreSQL', start: (): Promise<DatabasePair> => startPostgresPair({ synchronous: true }) },
])('a server on $database', ({ start }) => {
  let pair: DatabasePair;
  let proxy: TcpProxy;
  let port: number;

  beforeEach(async () => {
    pair = await start();
    proxy = await TcpProxy.start(pair.primary.port);
    const url = await pair.primary.createDatabase();
    const fixture = await sqlFixture(url, () => Promise.resolve());
    await fixture.putRow(TAG, 1n, STEP);
    await fixture.close();
    const server = await servers.start(await servers.makeDirectory(), {
      LEAF_DATABASE_URL: url.replace(`:${pair.primary.port}/`, `:${proxy.port}/`),
      LEAF_SNOWFLAKE_ENABLED: 'false',
      LEAF_SEGMENT_WAIT_MS: String(WAIT_MS),
      LEAF_SEGMENT_MAX_STEP: String(STEP),
    });
    port = server.port;
  });

  afterEach(async () => {
    await servers.end();
    await proxy.stop();
    await pair.stop();
  });

  /** However many requests it takes: a busy machine alone can use up the short wait of the server. */
  function served(path: string): Promise<string> {
    return until('an answer', async () => {
      const answer = await call(port, path);
      if (answer.status === 200) return answer.body;
      expect(problemCode(answer)).toBe('LEAF_SEGMENT_UNAVAILABLE');
      return undefined;
    });
  }

  async function takeBatch(): Promise<number[]> {
    const { ids } = JSON.parse(await served(`/api/segment/batch/${TAG}?size=${BATCH}`)) as { ids: string[] };
    return ids.map(Number);
  }

  /** Every one refuses; returns the time of the slowest refusal. */
  async function refusals(): Promise<number> {
    const time = stopwatch();
    const paths = Array.from({ length: CALLERS }, (_, caller) =>
      caller % 2 === 0 ? GET : `/api/segment/range/${TAG}?size=${caller}`,
    );
    const answers = await Promise.all(paths.map((path) => call(port, path)));
    const ms = time();
    expect(new Set(answers.map(problemCode))).toEqual(new Set(['LEAF_SEGMENT_UNAVAILABLE']));
    return ms;
  }

  it.each(FAULTS)('serves what it has, refuses in time, and goes on when the database $name', async (fault) => {
    const ids: number[] = [];
    // One by one: a batch that finds nothing buffered would be an allocation of its own.
    while (ids.length < BATCH) ids.push(Number(await served(GET)));
    while (ids.length < STEP / 2) ids.push(...(await takeBatch()));
    await until('next segment', async () => (await metric(port, 'leaf_segment_loads_total')) === 2);

    await fault.begin({ pair, proxy });
    while (ids.length < 2 * STEP) ids.push(...(await takeBatch()));
    expect(ids).toEqual(Array.from({ length: 2 * STEP }, (_, index) => index + 1));

    let slowest = 0;
    for (let time = 0; time < REFUSALS; time++) slowest = Math.max(slowest, await refusals());
    expect(slowest).toBeLessThan(REFUSAL_LIMIT_MS);

    await fault.end({ pair, proxy });
    const time = stopwatch();
    const first = Number(await served(GET));
    const recoveryMs = time();
    process.stdout.write(
      `${expect.getState().currentTestName}: refused within ${Math.round(slowest)} ms (wait limit ${WAIT_MS} ms), ` +
        `serving again after ${Math.round(recoveryMs)} ms\n`,
    );
    expect(recoveryMs).toBeLessThan(RECOVERY_LIMIT_MS);
    ids.push(first);
    while (ids.length < 4 * STEP) ids.push(...(await takeBatch()));
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  });
});
