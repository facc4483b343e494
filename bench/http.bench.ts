import { join } from 'node:path';
import { arrangeCores, type Cores } from './http/cores';
import { describeFixedRates, summarizeFixedRates } from './http/fixed-rate-report';
import { httpFaults, httpFigures, httpTargets } from './http/http-targets';
import { chooseGenerator, CONNECTIONS } from './http/load-generator';
import { describeProcesses, hasProcesses, measureProcesses } from './http/processes';
import { measureRound, type Round } from './http/round';
import type { Route } from './http/route';
import { describeRoutes, summarizeKnown, summarizeRoutes } from './http/route-report';
import { describeGaps, measureGaps } from './http/machine-gaps';
import { describeRestart, measureRestart } from './http/restart';
import { Sandbox } from './http/sandbox';
import { measureStartUps } from './http/server-figures';
import { readServerOptions } from './http/server-options';
import type { ServerOptions } from './http/server-process';
import { type SetUp, startSetUp } from './http/set-up';
import { describeEnvironment, readEnvironment } from './report/environment';
import { packageVersion } from './report/package-version';
import { writeResults } from './report/results-file';
import { summarize, type Summary } from './report/summary';
import { decimals, whole } from '../test/support/table';
import { describeTargets } from './report/targets';

const SNOWFLAKE_PATH = '/api/snowflake/get/bench';
const TAG = 'leaf-segment-test';
const BATCH = 100;
const RANGE = 1_000_000;
/** Few clients request a million IDs at once, and each call can go to the database. */
const RANGE_CONNECTIONS = 8;
const RANGE_CALL = { path: `/api/segment/range/${TAG}?size=${RANGE}`, ids: RANGE };
/** One call that costs the load generator nearly as much as the server, and one that does not. */
const PROCESS_CALLS = [
  { name: 'one ID', path: SNOWFLAKE_PATH, ids: 1 },
  { name: 'batch of 1000', path: `/api/segment/batch/${TAG}?size=1000`, ids: 1000 },
];
const FULL = { rounds: 7, seconds: 4, warmUpSeconds: 2, fixedRateSeconds: 5, calls: 3, starts: 5, processRounds: 7 };
const QUICK = { rounds: 3, seconds: 1, warmUpSeconds: 1, fixedRateSeconds: 3, calls: 3, starts: 2, processRounds: 2 };

async function main(): Promise<void> {
  const { quick, server } = readServerOptions();
  const setUp = await startSetUp();
  try {
    await measure(setUp, server, quick ? QUICK : FULL);
  } finally {
    await setUp.stop();
  }
}

async function measure(setUp: SetUp, main: string, plan: typeof FULL): Promise<void> {
  const environment = readEnvironment();
  const sandbox = new Sandbox();
  const cores = arrangeCores();
  const generator = chooseGenerator(sandbox, cores);
  console.log(describeEnvironment(environment));
  const where = cores.pinned ? 'servers on core 0, generator on core 1' : 'servers and generator share all cores';
  console.log(
    `${setUp.name}; ${generator.name}, fastify ${packageVersion('fastify')}, ${CONNECTIONS} keep-alive connections, no pipelining; ${where}`,
  );

  const command = [process.execPath, main];
  const leaf: ServerOptions = { command: cores.server(command), readyPath: '/health/ready', env: setUp.env };
  const routes = routesOf(cores, leaf);
  console.error('start-up …');
  // Not pinned to one core: V8 compiles and collects garbage on other threads, as in production.
  const startMs = await measureStartUps(sandbox, command, SNOWFLAKE_PATH, plan.starts);
  const gaps = await measureGaps(sandbox, cores);
  const rounds: Round[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    console.error(`round ${round + 1} of ${plan.rounds} …`);
    const subject = { server: leaf, call: RANGE_CALL };
    rounds.push(await measureRound({ sandbox, cores, generator }, routes, subject, plan, round % routes.length));
  }
  const free: ServerOptions = { ...leaf, command };
  const processes = hasProcesses(main)
    ? await measureProcesses(sandbox, free, PROCESS_CALLS, { ...plan, rounds: plan.processRounds })
    : undefined;
  const isRestarted = processes !== undefined && setUp.production;
  const restart = isRestarted ? await measureRestart(sandbox, free, SNOWFLAKE_PATH) : undefined;

  const reports = summarizeRoutes(routes, rounds);
  const fixedRates = summarizeFixedRates(rounds.map(({ fixedRateLoads }) => fixedRateLoads));
  const rangeMs = summarize(rounds.flatMap(({ callMs }) => callMs));
  const idleMiB = summarizeKnown(rounds.map((round) => round.idleMiB));
  const loadedMiB = summarizeKnown(rounds.map((round) => round.loadedMiB));
  console.log(`\n${plan.rounds} rounds of ${plan.seconds} s each, each with new servers.\n`);
  console.log(describeRoutes(reports));
  console.log(`\n${describeFixedRates(fixedRates)}`);
  console.log(describeGaps(gaps));
  console.log(`\nnothing pinned; ${generator.name}, one thread:`);
  console.log(processes === undefined ? 'This server does not support LEAF_PROCESSES.' : describeProcesses(processes));
  if (restart !== undefined) console.log(describeRestart(restart));
  const calls = plan.rounds * plan.calls;
  console.log(`\nrange of ${whole(RANGE)} IDs, one call: ${milliseconds(rangeMs, 2)} (${calls} calls)`);
  console.log(
    `start to first ID over HTTP: ${milliseconds(startMs, 0)} (${plan.starts} starts, defaults, empty data folder)`,
  );
  console.log(`resident memory: ${mebibytes(idleMiB)} idle after startup, ${mebibytes(loadedMiB)} after the load`);
  const { name, production } = setUp;
  const outcome = {
    routes: reports,
    fixedRates,
    processes,
    restart,
    production,
    startMs,
    memory: { idleMiB, loadedMiB },
  };
  const targets = httpTargets(outcome);
  console.log(`\n${describeTargets(targets)}`);
  const setting = { setUp: name, generator: generator.name, connections: CONNECTIONS, pinned: cores.pinned, plan };
  const results = { environment, targets, figures: httpFigures(outcome), setting, ...outcome, rangeMs, gaps, rounds };
  console.log(`Written to ${writeResults('http', results)}`);
  for (const fault of httpFaults(outcome)) {
    console.error(`FAILED: ${fault}`);
    process.exitCode = 1;
  }
}

/** The first route is the baseline of all ratios. */
function routesOf(cores: Cores, leaf: ServerOptions): Route[] {
  const peer = (file: string): ServerOptions => ({
    command: cores.server([process.execPath, join(__dirname, 'http', file)]),
    readyPath: SNOWFLAKE_PATH,
  });
  const single = { ids: 1, atFixedRate: true };
  const batch = { server: leaf, ids: BATCH };
  return [
    { name: 'node:http, constant answer', server: peer('raw-server.js'), path: SNOWFLAKE_PATH, ...single },
    { name: 'fastify, constant answer', server: peer('fastify-server.js'), path: SNOWFLAKE_PATH, ids: 1 },
    { name: 'Leaf snowflake', server: leaf, path: SNOWFLAKE_PATH, ...single },
    { name: 'Leaf segment', server: leaf, path: `/api/segment/get/${TAG}`, ...single },
    { name: `Leaf snowflake, ${BATCH}`, path: `/api/snowflake/batch/bench?size=${BATCH}`, ...batch },
    { name: `Leaf segment, ${BATCH}`, path: `/api/segment/batch/${TAG}?size=${BATCH}`, ...batch },
    { name: `Leaf segment, range of ${whole(RANGE)}`, server: leaf, ...RANGE_CALL, connections: RANGE_CONNECTIONS },
  ];
}

function milliseconds({ median, min, max }: Summary, digits: number): string {
  return `${decimals(median, digits)} ms median, ${decimals(min, digits)}..${decimals(max, digits)}`;
}

function mebibytes(value: Summary | undefined): string {
  return value === undefined ? 'unknown' : `${decimals(value.median, 0)} MiB`;
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
