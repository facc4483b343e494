import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { arrangeCores } from '../http/cores';
import { httpFaults } from '../http/http-targets';
import { chooseGenerator, CONNECTIONS } from '../http/load-generator';
import { measureRound, type Round, type RouteLoad } from '../http/round';
import type { Route } from '../http/route';
import { summarizeKnown, summarizeRoutes } from '../http/route-report';
import { Sandbox } from '../http/sandbox';
import type { ServerOptions } from '../http/server-process';
import { describeEnvironment, readEnvironment } from '../report/environment';
import { writeResults } from '../report/results-file';
import { ratios, summarize } from '../report/summary';
import { decimals, formatTable, whole } from '../report/table';
import { figure } from '../report/targets';

const BUILT_SERVER = 'dist/apps/leaf-server/src/server.js';
const MODES = [
  { mode: 'snowflake', path: '/api/snowflake/get/bench' },
  { mode: 'segment', path: '/api/segment/get/leaf-segment-test' },
];
const FULL = { rounds: 9, seconds: 3, warmUpSeconds: 2, fixedRateSeconds: 0, calls: 0 };
const QUICK = { rounds: 3, seconds: 1, warmUpSeconds: 1, fixedRateSeconds: 0, calls: 0 };

/** Measures the cost of request metrics with three servers of one build; two are identical, to show the noise. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
  const plan = values.quick ? QUICK : FULL;
  if (!existsSync(BUILT_SERVER)) throw new Error(`Missing ${BUILT_SERVER}. Run "npm run build" first.`);
  const environment = readEnvironment();
  const sandbox = new Sandbox();
  const cores = arrangeCores();
  const generator = chooseGenerator(sandbox, cores);
  console.log(describeEnvironment(environment));
  console.log(`${generator.name}, ${CONNECTIONS} keep-alive connections; ${cores.pinned ? 'pinned' : 'not pinned'}`);

  const leaf = (counting: 'on' | 'off'): ServerOptions => ({
    command: cores.server([
      process.execPath,
      join(__dirname, '../http/leaf-server.js'),
      dirname(resolve(BUILT_SERVER)),
      counting,
    ]),
    readyPath: '/health/ready',
  });
  const servers = { off: leaf('off'), on: leaf('on'), 'off again': leaf('off') };
  const routes = MODES.flatMap(({ mode, path }) =>
    Object.entries(servers).map(([counting, server]): Route => ({
      name: `${mode}, ${counting}`,
      server,
      path,
      ids: 1,
    })),
  );
  const rounds: Round[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    console.error(`round ${round + 1} of ${plan.rounds} …`);
    const subject = { server: servers.on, call: { path: '', ids: 0 } };
    rounds.push(await measureRound({ sandbox, cores, generator }, routes, subject, plan, round % routes.length));
  }
  console.log(`\n${plan.rounds} rounds of ${plan.seconds} s each, each with new servers.\n`);
  const reports = summarizeRoutes(routes, rounds);
  console.log(describe(routes, rounds));
  const figures = reports.map(({ name, rate }) => figure(name, rate.median, 'requests/s'));
  const file = writeResults('metrics', { environment, targets: [], figures, plan, routes, rounds });
  console.log(`Written to ${file}`);
  for (const fault of httpFaults({ routes: reports, fixedRates: [] })) {
    console.error(`FAILED: ${fault}`);
    process.exitCode = 1;
  }
}

/** Ratios of each row to the row "off" of its mode, by round. */
function describe(routes: readonly Route[], rounds: readonly Round[]): string {
  const header = ['counting', 'requests/s', 'of off', 'min..max', 'per CPU s, of off', 'min..max'];
  const rows = routes.map(({ name, path }, index) => {
    const loads = rounds.map((round) => round.loads[index]!);
    const baseline = rounds.map((round) => round.loads[routes.findIndex((route) => route.path === path)]!);
    const ratio = summarize(ratios(loads.map(rateOf), baseline.map(rateOf)));
    const cpu = summarizeKnown(ratios(loads.map(ratePerCpu), baseline.map(ratePerCpu)));
    return [
      name,
      whole(summarize(loads.map(rateOf)).median),
      decimals(ratio.median, 3),
      `${decimals(ratio.min, 2)}..${decimals(ratio.max, 2)}`,
      cpu === undefined ? '' : decimals(cpu.median, 3),
      cpu === undefined ? '' : `${decimals(cpu.min, 2)}..${decimals(cpu.max, 2)}`,
    ];
  });
  return formatTable(header, rows);
}

function rateOf({ rate }: RouteLoad): number {
  return rate;
}

function ratePerCpu({ rate, serverCpu = NaN }: RouteLoad): number {
  return rate / serverCpu;
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
