import { freePort } from '../test/support/free-port';
import { arrangeCores } from './http/cores';
import { chooseGenerator } from './http/load-generator';
import type { Rig } from './http/route';
import { loadOf } from './http/round';
import { Sandbox } from './http/sandbox';
import { readServerOptions } from './http/server-options';
import { ServerProcess } from './http/server-process';
import { incrRate, Redis } from './redis/redis';
import { describeEnvironment, readEnvironment } from './report/environment';
import { writeResults } from './report/results-file';
import { summarize } from './report/summary';
import { formatTable, whole } from '../test/support/table';
import { atLeast, describeTargets, figure } from './report/targets';

const FULL = { rounds: 5, seconds: 4 };
const QUICK = { rounds: 2, seconds: 2 };
const TAG = 'leaf-segment-test';
const CONNECTIONS = 50;
const PIPELINE = 16;
/** INCRs that take about a second, with a pipeline of that many. */
const PER_SECOND: ReadonlyMap<number, number> = new Map([
  [1, 60_000],
  [PIPELINE, 600_000],
]);
const REDIS_SHARE = 1 / 20;

interface Rates {
  readonly perSecond: number;
  /** Per second of the server's CPU time; NaN if unknown. */
  readonly perCpuSecond: number;
}

/** By the name of the row. */
type Measured = Readonly<Record<string, Rates>>;

const HTTP = 'Leaf, HTTP, one ID';
const SINGLE = 'Leaf, INCR';
const PIPELINED = `Leaf, INCR, pipeline of ${PIPELINE}`;

async function main(): Promise<void> {
  const { quick, server } = readServerOptions();
  const plan = quick ? QUICK : FULL;
  const environment = readEnvironment();
  const sandbox = new Sandbox();
  const cores = arrangeCores();
  const rig = { sandbox, cores, generator: chooseGenerator(sandbox, cores) };
  console.log(describeEnvironment(environment));
  const rounds: Measured[] = [];
  for (let round = 1; round <= plan.rounds; round++) {
    console.error(`round ${round} of ${plan.rounds} …`);
    rounds.push({ ...(await measureLeaf(rig, server, plan.seconds)), ...(await measureRedis(rig, plan.seconds)) });
  }
  const median = (of: (round: Measured) => number | undefined): number =>
    summarize(rounds.map((round) => of(round) ?? NaN)).median;
  const names = Object.keys(rounds[0] ?? {});
  const rows = names.map((name) => [
    name,
    whole(median((round) => round[name]?.perSecond)),
    cpuText(median((round) => round[name]?.perCpuSecond)),
  ]);
  console.log(`\n${formatTable(['', 'IDs/s', 'per CPU s'], rows)}\n`);
  const ofHttp = median((round) => (round[SINGLE]?.perCpuSecond ?? NaN) / (round[HTTP]?.perCpuSecond ?? NaN));
  const targets = [
    atLeast('INCR per CPU second, of HTTP', ofHttp, 1.5, 'ratio'),
    atLeast(
      `INCR, pipeline of ${PIPELINE}`,
      median((round) => round[PIPELINED]?.perSecond),
      500_000,
      'IDs/s',
    ),
  ];
  console.log(describeTargets(targets));
  const figures = names.map((name) =>
    figure(
      name,
      median((round) => round[name]?.perSecond),
      'IDs/s',
    ),
  );
  console.log(`Written to ${writeResults('resp', { environment, targets, figures, plan, rounds })}`);
}

async function measureLeaf(rig: Rig, main: string, seconds: number): Promise<Measured> {
  const respPort = await freePort();
  const server = await ServerProcess.start(rig.sandbox, {
    command: rig.cores.server([process.execPath, main]),
    readyPath: '/health/ready',
    env: { LEAF_RESP_PORT: String(respPort) },
  });
  const incr = async (pipeline: number): Promise<Rates> => {
    const requests = Math.round((PER_SECOND.get(pipeline) ?? 0) * seconds);
    const before = server.cpuSeconds() ?? NaN;
    const perSecond = await incrRate(rig, { port: respPort, tag: TAG, connections: CONNECTIONS, pipeline, requests });
    return { perSecond, perCpuSecond: requests / ((server.cpuSeconds() ?? NaN) - before) };
  };
  const http = async (duration: number): Promise<Rates> => {
    const route = { name: HTTP, server: { command: [], readyPath: '' }, path: `/api/segment/get/${TAG}`, ids: 1 };
    const { rate, serverCpu = NaN } = await loadOf(route, server, rig.generator, duration);
    return { perSecond: rate, perCpuSecond: rate / serverCpu };
  };
  try {
    // Warm-up.
    await http(1);
    for (const pipeline of PER_SECOND.keys()) await incr(pipeline);
    return { [HTTP]: await http(seconds), [SINGLE]: await incr(1), [PIPELINED]: await incr(PIPELINE) };
  } finally {
    await server.stop();
  }
}

/** Nothing if it is not installed. */
async function measureRedis(rig: Rig, seconds: number): Promise<Measured> {
  const redis = await Redis.start(rig.sandbox, rig.cores);
  if (redis === undefined) return {};
  const rate = async (pipeline: number): Promise<Rates> => {
    const requests = (PER_SECOND.get(pipeline) ?? 0) * seconds * REDIS_SHARE;
    return { perSecond: await redis.rate(CONNECTIONS, pipeline, Math.round(requests)), perCpuSecond: NaN };
  };
  const name = `redis-server ${redis.version}, INCR`;
  const measured = { [name]: await rate(1), [`${name}, pipeline of ${PIPELINE}`]: await rate(PIPELINE) };
  await redis.stop();
  return measured;
}

function cpuText(rate: number): string {
  return Number.isNaN(rate) ? '' : whole(rate);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
