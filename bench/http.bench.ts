import { type Outcome, runPart } from './harness';
import { type Cores, shareCores } from './http/cores';
import { describeFixedRates, summarizeFixedRates } from './http/fixed-rate';
import { httpFaults, httpFigures, httpTargets } from './http/http-targets';
import { CONNECTIONS, packageVersion } from './http/load-generator';
import { describeProcesses, measureProcesses } from './http/processes';
import { nodeServer } from './http/peers';
import { SNOWFLAKE_PATH } from './http/request';
import { measureRound, type Round } from './http/round';
import { openRig, type Route } from './http/route';
import { describeRoutes, summarizeRoutes } from './http/route-report';
import { leafServer, type ServerOptions } from './http/server-process';
import { whole } from './report/table';
import { startSetUp } from './services';

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
  const rig = openRig();
  const { sandbox, cores, generator } = rig;
  const { name, production, env } = await startSetUp(sandbox);
  const how = `${generator.name}, fastify ${packageVersion('fastify')}, ${CONNECTIONS} keep-alive connections`;
  console.log(`${name}; ${how}, no pipelining; ${cores.description}`);

  const leaf = leafServer(cores, main, env);
  const routes = routesOf(cores, leaf);
  const rounds: Round[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    console.error(`round ${round + 1} of ${plan.rounds} …`);
    rounds.push(await measureRound(rig, routes, plan, round % routes.length));
  }
  console.error('processes …');
  const processes = await measureProcesses(sandbox, leafServer(shareCores(), main, env), PROCESS_CALLS, plan);

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

/** The first route is the baseline of all ratios. */
function routesOf(cores: Cores, leaf: ServerOptions): Route[] {
  const single = { ids: 1, atFixedRate: true };
  const batch = { server: leaf, ids: BATCH };
  const range = { server: leaf, ids: RANGE, connections: RANGE_CONNECTIONS };
  return [
    { name: 'node:http, constant answer', server: nodeServer(cores, 'raw-server'), path: SNOWFLAKE_PATH, ids: 1 },
    { name: 'fastify, constant answer', server: nodeServer(cores, 'fastify-server'), path: SNOWFLAKE_PATH, ids: 1 },
    { name: 'Leaf snowflake', server: leaf, path: SNOWFLAKE_PATH, ...single },
    { name: 'Leaf segment', server: leaf, path: `/api/segment/get/${TAG}`, ...single },
    { name: `Leaf snowflake, ${BATCH}`, path: `/api/snowflake/batch/bench?size=${BATCH}`, ...batch },
    { name: `Leaf segment, ${BATCH}`, path: `/api/segment/batch/${TAG}?size=${BATCH}`, ...batch },
    { name: `Leaf segment, range of ${whole(RANGE)}`, path: `/api/segment/range/${TAG}?size=${RANGE}`, ...range },
  ];
}
