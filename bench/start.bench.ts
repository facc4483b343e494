import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { cpuSecondsOfEnded } from './http/processor-time';
import { Sandbox } from './http/sandbox';
import { readServerOptions } from './http/server-options';
import { ServerProcess } from './http/server-process';
import { describeEnvironment, readEnvironment } from './report/environment';
import { writeResults } from './report/results-file';
import { summarize } from './report/summary';
import { formatTable, whole } from '../test/support/table';
import { below, figure } from './report/targets';

const FULL = { rounds: 20 };
const QUICK = { rounds: 5 };
const TARGET_MS = 350;
const ID_PATH = '/api/snowflake/get/bench';

interface Start {
  /** Time until the first ID, in milliseconds; of `node -e 0` until its end. */
  readonly ms: number;
  /** CPU time of all threads, in milliseconds. */
  readonly cpuMs: number;
}

type Measure = () => Promise<Start>;

async function main(): Promise<void> {
  const { quick, server } = readServerOptions();
  const plan = quick ? QUICK : FULL;
  const environment = readEnvironment();
  console.log(describeEnvironment(environment));

  const sandbox = new Sandbox();
  const data = sandbox.folder();
  const contenders: readonly [name: string, measure: Measure][] = [
    ['node -e 0', () => Promise.resolve(startNode())],
    ['Nest on Fastify, one route', () => startServer(sandbox, join(__dirname, 'start/nest-server.js'), {})],
    ['Leaf on SQLite', () => startServer(sandbox, server, { LEAF_DATA_DIR: data })],
  ];
  const starts = new Map<string, Start[]>(contenders.map(([name]) => [name, []]));
  // The first start creates the database and fills the compile cache.
  for (const [, measure] of contenders) await measure();
  for (let round = 1; round <= plan.rounds; round++) {
    console.error(`round ${round} of ${plan.rounds} …`);
    for (const [name, measure] of contenders) starts.get(name)?.push(await measure());
  }
  const measured = [...starts].map(([name, list]) => ({
    name,
    ms: summarize(list.map(({ ms }) => ms)),
    cpuMs: summarize(list.map(({ cpuMs }) => cpuMs)),
  }));
  const rows = measured.map(({ name, ms, cpuMs }) => [
    name,
    whole(ms.median),
    `${whole(ms.min)}..${whole(ms.max)}`,
    whole(cpuMs.median),
    `${whole(cpuMs.min)}..${whole(cpuMs.max)}`,
  ]);
  console.log(`\n${formatTable(['start to the first ID', 'ms', 'min..max', 'CPU ms', 'min..max'], rows)}\n`);
  const figures = measured.flatMap(({ name, ms, cpuMs }) => [
    figure(`${name}, to the first ID`, ms.median, 'ms'),
    figure(`${name}, CPU time`, cpuMs.median, 'ms'),
  ]);
  const targets = [below('Leaf on SQLite, to the first ID', measured.at(-1)?.ms.median, TARGET_MS, 'ms')];
  console.log(`Written to ${writeResults('start', { environment, targets, figures, plan, measured })}`);
}

function startNode(): Start {
  const [startedAt, cpu] = [performance.now(), cpuSecondsOfEnded() ?? NaN];
  spawnSync(process.execPath, ['-e', '0']);
  return { ms: performance.now() - startedAt, cpuMs: ((cpuSecondsOfEnded() ?? NaN) - cpu) * 1000 };
}

async function startServer(sandbox: Sandbox, main: string, env: NodeJS.ProcessEnv): Promise<Start> {
  const server = await ServerProcess.start(sandbox, { command: [process.execPath, main], readyPath: ID_PATH, env });
  const cpuMs = (server.cpuSeconds() ?? NaN) * 1000;
  await server.stop();
  return { ms: server.startMs, cpuMs };
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
