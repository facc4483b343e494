import { LeafClient } from '@leaf-ids/client';
import { runPart } from './harness';
import { shareCores } from './http/cores';
import type { LoadGenerator } from './http/load-generator';
import { openRig } from './http/route';
import { openSlowLink } from './http/slow-link';
import { leafServer, ServerProcess } from './http/server-process';
import { overRedis, startRedis } from './redis';
import { atLeast, atMost } from './report/figures';
import { describeRows, type Issued, measureRows, overHttp, type Row, rowFigures } from './rows';
import { startMariadb, startPostgres } from './services';

/** Concurrent callers. All of them wait for the database and share the time of each statement. */
const CONNECTIONS = 256;
const CALLERS = 4000;
const PIPELINE = 32;
const REDIS_SINGLE = `redis INCR, ${CONNECTIONS} connections`;
const REDIS_PIPELINE = `redis INCR, ${PIPELINE} in a pipeline`;
/** Between a server and its database, in one direction. */
const DELAY_MS = 1;
const AWAY_CONNECTIONS = 16;
/** Of the median latency under load to that of a single caller, which is one round trip. */
const ROUND_TRIPS = 1.3;
const ADMIN_TOKEN = 'admin-token-of-the-benchmark';
const DATABASES = { postgres: startPostgres, mariadb: startMariadb };
const TAGS = [
  { tag: 'strict', step: 1000, order: 'strict' },
  { tag: 'ordinary', step: 1_000_000 },
];

interface StrictRow extends Row {
  /** IDs per second. */
  readonly wanted?: number;
}

runPart('strict', { full: { rounds: 5, seconds: 4 }, quick: { rounds: 3, seconds: 1 } }, async (plan, main) => {
  const rig = openRig(shareCores());
  const { sandbox, cores, generator } = rig;
  const redis = await startRedis(sandbox, cores);
  const rows: StrictRow[] = [];
  if (redis !== undefined) {
    const load = { port: redis.port, tag: 'order', connections: CONNECTIONS };
    rows.push({ name: REDIS_SINGLE, run: overRedis(rig, load) });
    rows.push({ name: REDIS_PIPELINE, run: overRedis(rig, { ...load, pipeline: PIPELINE }) });
  }
  for (const [name, start] of Object.entries(DATABASES)) {
    const startServer = (url: string): Promise<ServerProcess> =>
      ServerProcess.start(
        sandbox,
        leafServer(cores, main, {
          ...{ LEAF_DATABASE_URL: url, LEAF_SNOWFLAKE_ENABLED: 'false', LEAF_ADMIN_TOKEN: ADMIN_TOKEN },
          // Prevents overload refusals caused by other work on the machine.
          ...{ LEAF_MAX_LAG_MS: '60000', LEAF_SEGMENT_WAIT_MS: '10000' },
        }),
      );
    const url = new URL(await start(sandbox));
    const server = await startServer(url.href);
    for (const tag of TAGS) await createTag(server, tag);
    rows.push(...leafRows(name, server, generator, redis !== undefined));
    url.port = String(await openSlowLink(Number(url.port), DELAY_MS));
    rows.push(...awayRows(name, await startServer(url.href), generator));
  }
  const measured = await measureRows(rows, plan);
  const redisName = redis === undefined ? 'no redis-server' : `redis-server ${redis.version}`;
  const head = `${generator.name}, ${redisName}; ${plan.rounds} rounds of ${plan.seconds} s, nothing pinned.`;
  const targets = rows.flatMap(({ name, wanted }, index) =>
    wanted === undefined ? [] : [atLeast(name, measured[index]?.rate.median, wanted, 'IDs/s')],
  );
  const latencyOf = (name: string): number => measured.find((row) => row.name === name)?.p50Ms?.median ?? NaN;
  for (const database of Object.keys(DATABASES)) {
    const [one, many] = [1, AWAY_CONNECTIONS].map((callers) => latencyOf(awayName(database, callers)));
    targets.push(atMost(`${database}: median latency in round trips`, many! / one!, ROUND_TRIPS, 'ratio'));
  }
  const text = `${head}\n\n${describeRows(measured)}`;
  return { text, targets, figures: rowFigures(measured), details: { rows: measured } };
});

async function createTag({ port }: ServerProcess, tag: object): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api/tags`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_TOKEN}` },
    body: JSON.stringify(tag),
  });
  if (response.status !== 201) throw new Error(`POST /api/tags: ${response.status} ${await response.text()}`);
}

function leafRows(database: string, server: ServerProcess, generator: LoadGenerator, hasRedis: boolean): StrictRow[] {
  const client = new LeafClient({ servers: [`http://127.0.0.1:${server.port}`], maxWaiting: 2 * CALLERS });
  const http = (tag: string): Pick<Row, 'run'> => overHttp(generator, server, `/api/segment/get/${tag}`, CONNECTIONS);
  const ordinary = { http: `${database}: HTTP, ordinary`, client: `${database}: LeafClient, ordinary` };
  const beside = hasRedis ? { http: REDIS_SINGLE, client: REDIS_PIPELINE } : ordinary;
  const rows: StrictRow[] = [
    { name: ordinary.http, ...http('ordinary') },
    { name: `${database}: HTTP, strict`, beside: beside.http, wanted: 20_000, ...http('strict') },
    { name: ordinary.client, run: (seconds) => callClient(client, 'ordinary', seconds) },
    {
      name: `${database}: LeafClient, strict, ${CALLERS} callers`,
      beside: beside.client,
      wanted: 300_000,
      run: (seconds) => callClient(client, 'strict', seconds),
    },
  ];
  return rows.map((row) => ({ ...row, server }));
}

function awayName(database: string, connections: number): string {
  return `${database}, ${2 * DELAY_MS} ms away: HTTP, strict, ${connections} connections`;
}

/** With a database at the other end of a network, the latency of a call is what counts. */
function awayRows(database: string, server: ServerProcess, generator: LoadGenerator): StrictRow[] {
  return [1, AWAY_CONNECTIONS].map((connections) => ({
    name: awayName(database, connections),
    ...overHttp(generator, server, '/api/segment/get/strict', connections),
  }));
}

/** Closed loop: every caller requests the next ID when it receives one. */
async function callClient(client: LeafClient, tag: string, seconds: number): Promise<Issued> {
  const startedAt = performance.now();
  const end = startedAt + seconds * 1000;
  let ids = 0;
  const call = async (): Promise<void> => {
    while (performance.now() < end) {
      await client.nextId(tag);
      // Buffered IDs of ordinary tags resolve without I/O; without this yield the loop would block the event loop.
      if (++ids % CALLERS === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  return { ids, seconds: (performance.now() - startedAt) / 1000 };
}
