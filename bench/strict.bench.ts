import { LeafClient } from '@leaf-ids/client/plain';
import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect } from '../test/support/contract/sql-stores';
import { startMariadb } from '../test/support/servers/mariadb';
import { startPostgres } from '../test/support/servers/postgres';
import { shareCores } from './http/cores';
import { chooseGenerator, type LoadGenerator } from './http/load-generator';
import { Sandbox } from './http/sandbox';
import { readServerOptions } from './http/server-options';
import { ServerProcess } from './http/server-process';
import { describeEnvironment, readEnvironment } from './report/environment';
import { writeResults } from './report/results-file';
import { ratios, summarize } from './report/summary';
import { decimals, formatTable, whole } from '../test/support/table';
import { atLeast, describeTargets, figure } from './report/targets';
import { Redis } from './redis/redis';

const FULL = { rounds: 5, seconds: 4 };
const QUICK = { rounds: 3, seconds: 1 };
/** Concurrent callers. All of them wait for the database and share the time of each statement. */
const CONNECTIONS = 256;
const CALLERS = 4000;
const PIPELINE = 32;
const REDIS_REQUESTS = 20_000;
const WANTED_HTTP = 20_000;
const WANTED_CLIENT = 300_000;

interface Contender {
  readonly name: string;
  /** Name of the row to which the ratio refers. */
  readonly beside?: string;
  readonly wanted?: number;
  /** CPU time of the server, in seconds. */
  cpuSeconds?(): number | undefined;
  /** IDs per second. */
  run(seconds: number): Promise<number>;
}

const DATABASES = { postgres: startPostgres, mariadb: startMariadb };

async function main(): Promise<void> {
  const { quick, server: main } = readServerOptions();
  const plan = quick ? QUICK : FULL;
  const environment = readEnvironment();
  console.log(describeEnvironment(environment));
  const sandbox = new Sandbox();
  const cores = shareCores();
  const generator = chooseGenerator(sandbox, cores);
  const redis = await Redis.start(sandbox, cores);
  const contenders: Contender[] = redis === undefined ? [] : redisContenders(redis);
  const closing: (() => Promise<unknown>)[] = [];
  for (const [name, start] of Object.entries(DATABASES)) {
    const database = await start();
    const url = await database.createDatabase();
    const dataSource = await connect(parseDatabaseUrl(url));
    await dataSource.query(
      "INSERT INTO leaf_alloc (biz_tag, max_id, step, ordering) VALUES ('strict', 1, 1000, 'strict'), ('relaxed', 1, 1000000, NULL)",
    );
    await dataSource.destroy();
    // Prevents overload refusals caused by other work on the machine.
    const patience = { LEAF_MAX_LAG_MS: '60000', LEAF_SEGMENT_WAIT_MS: '10000' };
    const env = { LEAF_DATABASE_URL: url, LEAF_SNOWFLAKE_ENABLED: 'false', ...patience };
    const options = { command: cores.server([process.execPath, main]), readyPath: '/health/ready', env };
    const server = await ServerProcess.start(sandbox, options);
    contenders.push(...leafContenders(name, server, generator, redis !== undefined));
    closing.push(
      () => server.stop(),
      () => database.stop(),
    );
  }
  const measured = await measure(contenders, plan);
  for (const close of closing) await close();

  const rows = contenders.map(({ name, beside = '' }) => {
    const { rates = [], perCpuSecond = [] } = measured.get(name) ?? {};
    const besides = measured.get(beside)?.rates;
    const perCpu = perCpuSecond.length === 0 ? undefined : summarize(perCpuSecond);
    return { name, beside, rate: summarize(rates), perCpu, ratio: besides && summarize(ratios(rates, besides)) };
  });
  const table = rows.map(({ name, beside, rate, perCpu, ratio }) => [
    name,
    whole(rate.median),
    `${whole(rate.min)}..${whole(rate.max)}`,
    perCpu === undefined ? '' : whole(perCpu.median),
    ratio === undefined ? '' : `${decimals(ratio.median, 3)} of ${beside}`,
  ]);
  const redisName = redis === undefined ? 'no redis-server' : `redis-server ${redis.version}`;
  console.log(`\n${generator.name}, ${redisName}; ${plan.rounds} rounds of ${plan.seconds} s, nothing pinned.\n`);
  console.log(formatTable(['', 'IDs/s', 'min..max', 'per CPU s', 'ratio, median of the rounds'], table));
  const targets = contenders.flatMap(({ name, wanted }, index) =>
    wanted === undefined ? [] : [atLeast(name, rows[index]?.rate.median, wanted, 'IDs/s')],
  );
  console.log(`\n${describeTargets(targets)}`);
  const figures = rows.flatMap(({ name, beside, rate, ratio }) => [
    figure(name, rate.median, 'IDs/s'),
    ...(ratio === undefined ? [] : [figure(`${name}, of ${beside}`, ratio.median, 'ratio')]),
  ]);
  console.log(`Written to ${writeResults('strict', { environment, targets, figures, plan, rows })}`);
}

interface Measured {
  /** IDs per second in each round. */
  readonly rates: number[];
  /** IDs per second of CPU time of the server, which depends less on other work on the machine. */
  readonly perCpuSecond: number[];
}

/** Runs all rows in each round, in rotating order. */
async function measure(contenders: readonly Contender[], plan: typeof FULL): Promise<Map<string, Measured>> {
  const measured = new Map<string, Measured>(contenders.map(({ name }) => [name, { rates: [], perCpuSecond: [] }]));
  for (const contender of contenders) await contender.run(plan.seconds / 2);
  for (let round = 0; round < plan.rounds; round++) {
    console.error(`round ${round + 1} of ${plan.rounds} …`);
    for (let place = 0; place < contenders.length; place++) {
      const contender = contenders[(place + round) % contenders.length];
      if (contender === undefined) continue;
      const record = measured.get(contender.name);
      const [before, startedAt] = [contender.cpuSeconds?.(), performance.now()];
      const rate = await contender.run(plan.seconds);
      const seconds = (performance.now() - startedAt) / 1000;
      record?.rates.push(rate);
      const after = contender.cpuSeconds?.();
      if (before !== undefined && after !== undefined) record?.perCpuSecond.push((rate * seconds) / (after - before));
    }
  }
  return measured;
}

function redisContenders(redis: Redis): Contender[] {
  return [
    {
      name: `redis INCR, ${CONNECTIONS} connections`,
      run: (seconds) => redis.rate(CONNECTIONS, 1, REDIS_REQUESTS * seconds),
    },
    {
      name: `redis INCR, ${PIPELINE} in a pipeline`,
      run: (seconds) => redis.rate(CONNECTIONS, PIPELINE, PIPELINE * REDIS_REQUESTS * seconds),
    },
  ];
}

function leafContenders(
  database: string,
  server: ServerProcess,
  generator: LoadGenerator,
  hasRedis: boolean,
): Contender[] {
  const { port } = server;
  const client = new LeafClient({ servers: [`http://127.0.0.1:${port}`], maxWaiting: 2 * CALLERS });
  const http = (tag: string) => async (seconds: number) => {
    const url = `http://127.0.0.1:${port}/api/segment/get/${tag}`;
    const load = await generator.run(url, Math.ceil(seconds), CONNECTIONS);
    if (load.failures > 0) throw new Error(`${load.failures} requests for ${tag} failed`);
    return load.requests / load.seconds;
  };
  const one = `redis INCR, ${CONNECTIONS} connections`;
  const many = `redis INCR, ${PIPELINE} in a pipeline`;
  const ordinary = { http: `${database}: HTTP, ordinary`, client: `${database}: LeafClient, ordinary` };
  const contenders: Contender[] = [
    { name: ordinary.http, run: http('relaxed') },
    {
      name: `${database}: HTTP, strict`,
      beside: hasRedis ? one : ordinary.http,
      wanted: WANTED_HTTP,
      run: http('strict'),
    },
    { name: ordinary.client, run: (seconds) => callClient(client, 'relaxed', seconds) },
    {
      name: `${database}: LeafClient, strict, ${CALLERS} callers`,
      beside: hasRedis ? many : ordinary.client,
      wanted: WANTED_CLIENT,
      run: (seconds) => callClient(client, 'strict', seconds),
    },
  ];
  return contenders.map((contender) => ({ ...contender, cpuSeconds: () => server.cpuSeconds() }));
}

/** Closed loop: every caller requests the next ID when it receives one. */
async function callClient(client: LeafClient, tag: string, seconds: number): Promise<number> {
  const startedAt = performance.now();
  const end = startedAt + seconds * 1000;
  let count = 0;
  const call = async (): Promise<void> => {
    while (performance.now() < end) {
      await client.nextId(tag);
      // Buffered IDs of relaxed tags resolve without I/O; without this yield the loop would block the event loop.
      if (++count % CALLERS === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  return (count * 1000) / (performance.now() - startedAt);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
