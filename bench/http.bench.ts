import { join } from 'node:path';
import { type Outcome, runPart } from './harness';
import { arrangeCores, type Cores } from './http/cores';
import { describeFixedRates, summarizeFixedRates } from './http/fixed-rate';
import { httpFaults, httpFigures, httpTargets } from './http/http-targets';
import { chooseGenerator, CONNECTIONS, packageVersion } from './http/load-generator';
import { describeProcesses, measureProcesses } from './http/processes';
import { measureRound, type Round } from './http/round';
import type { Route } from './http/route';
import { describeRoutes, summarizeRoutes } from './http/route-report';
import { Sandbox } from './http/sandbox';
import type { ServerOptions } from './http/server-process';
import { whole } from './report/table';
import { hasProductionServices, startMariadb, startZookeeper } from './services';

const SNOWFLAKE_PATH = '/api/snowflake/get/bench';
const TAG = 'leaf-segment-test';
const BATCH = 100;
const RANGE = 1_000_000;
/** Few clients request a million IDs at once, and each call can go to the database. */
const RANGE_CONNECTIONS = 8;
/** One call that costs the load generator nearly as much as the server, and one that does not. */
const PROCESS_CALLS = [
  { name: 'one ID', path: SNOWFLAKE_PATH, ids: 1 },
  { name: 'batch of 1000', path: `/api/segment/batch/${TAG}?size=1000`, ids: 1000 },
];
const FULL = { rounds: 7, seconds: 4, warmUpSeconds: 2, fixedRateSeconds: 5 };
const QUICK = { rounds: 2, seconds: 1, warmUpSeconds: 1, fixedRateSeconds: 3 };

runPart('http', { full: FULL, quick: QUICK }, measure);

async function measure(plan: typeof FULL, main: string): Promise<Outcome> {
  const sandbox = new Sandbox();
  const cores = arrangeCores();
  const generator = chooseGenerator(sandbox, cores);
  const { name, production, env } = await startSetUp(sandbox);
  const where = cores.pinned ? 'servers on core 0, generator on core 1' : 'servers and generator share all cores';
  const how = `${generator.name}, fastify ${packageVersion('fastify')}, ${CONNECTIONS} keep-alive connections`;
  console.log(`${name}; ${how}, no pipelining; ${where}`);

  const command = [process.execPath, main];
  const leaf: ServerOptions = { command: cores.server(command), readyPath: '/health/ready', env };
  const routes = routesOf(cores, leaf);
  const rounds: Round[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    console.error(`round ${round + 1} of ${plan.rounds} …`);
    rounds.push(await measureRound({ sandbox, cores, generator }, routes, plan, round % routes.length));
  }
  console.error('processes …');
  const processes = await measureProcesses(sandbox, { ...leaf, command }, PROCESS_CALLS, plan);

  const outcome = {
    routes: summarizeRoutes(routes, rounds),
    fixedRates: summarizeFixedRates(rounds.map(({ fixedRateLoads }) => fixedRateLoads)),
    ...{ processes, production },
  };
  const text = [
    `${plan.rounds} rounds of ${plan.seconds} s each, each with new servers.\n`,
    describeRoutes(outcome.routes),
    `\n${describeFixedRates(outcome.fixedRates)}`,
    `\nnothing pinned; ${generator.name}, one thread:`,
    describeProcesses(processes),
  ];
  return {
    text: text.join('\n'),
    targets: httpTargets(outcome),
    figures: httpFigures(outcome),
    details: { setUp: name, generator: generator.name, pinned: cores.pinned, ...outcome, rounds },
    faults: httpFaults(outcome),
  };
}

/** What the servers under test store their segments and worker IDs in. */
interface SetUp {
  readonly name: string;
  /** Whether it is the one that the targets are for. */
  readonly production: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** MariaDB and ZooKeeper; the defaults of the server if they are not installed. */
async function startSetUp(sandbox: Sandbox): Promise<SetUp> {
  if (!hasProductionServices()) {
    console.error('MariaDB, Java or ZooKeeper is missing; "npm run test:setup" installs them.');
    return { name: 'SQLite and registry local, to which the targets do not apply', production: false, env: {} };
  }
  const [database, zookeeper] = await Promise.all([startMariadb(sandbox), startZookeeper(sandbox)]);
  const env = { LEAF_DATABASE_URL: database, LEAF_SNOWFLAKE_REGISTRY: 'zk_recycle', LEAF_ZOOKEEPER: zookeeper };
  return { name: 'MariaDB and registry zk_recycle', production: true, env };
}

/** The first route is the baseline of all ratios. */
function routesOf(cores: Cores, leaf: ServerOptions): Route[] {
  const peer = (file: string): ServerOptions => ({
    command: cores.server([process.execPath, join(__dirname, 'http', file)]),
    readyPath: SNOWFLAKE_PATH,
  });
  const single = { ids: 1, atFixedRate: true };
  const batch = { server: leaf, ids: BATCH };
  const range = { server: leaf, ids: RANGE, connections: RANGE_CONNECTIONS };
  return [
    { name: 'node:http, constant answer', server: peer('raw-server.js'), path: SNOWFLAKE_PATH, ids: 1 },
    { name: 'fastify, constant answer', server: peer('fastify-server.js'), path: SNOWFLAKE_PATH, ids: 1 },
    { name: 'Leaf snowflake', server: leaf, path: SNOWFLAKE_PATH, ...single },
    { name: 'Leaf segment', server: leaf, path: `/api/segment/get/${TAG}`, ...single },
    { name: `Leaf snowflake, ${BATCH}`, path: `/api/snowflake/batch/bench?size=${BATCH}`, ...batch },
    { name: `Leaf segment, ${BATCH}`, path: `/api/segment/batch/${TAG}?size=${BATCH}`, ...batch },
    { name: `Leaf segment, range of ${whole(RANGE)}`, path: `/api/segment/range/${TAG}?size=${RANGE}`, ...range },
  ];
}
