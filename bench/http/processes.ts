import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ratios, summarize, type Summary } from '../report/summary';
import { decimals, formatTable, percent, whole } from '../report/table';
import { shareCores } from './cores';
import { chooseGenerator, type LoadGenerator } from './load-generator';
import { cpuSecondsOfEnded } from './processor-time';
import { loadOf, SETTLE_MS } from './round';
import type { Route } from './route';
import { summarizeKnown } from './route-report';
import type { Sandbox } from './sandbox';
import { ServerProcess } from './server-process';

const COUNTS = [1, 2] as const;

interface ProcessLoad {
  readonly rate: number;
  /** Cores that the server and the generator used. */
  readonly serverCpu: number | undefined;
  readonly generatorCpu: number | undefined;
}

/** The requests. */
export interface ProcessCall {
  readonly name: string;
  readonly path: string;
  readonly ids: number;
}

export interface ProcessReport {
  readonly call: string;
  readonly processes: number;
  readonly loads: readonly ProcessLoad[];
  readonly rate: Summary;
  /** Ratio to one process in the same round. */
  readonly ratio: Summary;
}

/** Whether the built server supports several processes. */
export function hasProcesses(main: string): boolean {
  return readFileSync(join(dirname(main), 'config/variables.js'), 'utf8').includes('LEAF_PROCESSES');
}

/** Measures one server with one process and one with two, alternately and without pinning. */
export async function measureProcesses(
  sandbox: Sandbox,
  main: string,
  calls: readonly ProcessCall[],
  plan: { readonly rounds: number; readonly seconds: number; readonly warmUpSeconds: number },
): Promise<ProcessReport[]> {
  const generator = chooseGenerator(sandbox, shareCores());
  const rounds: (readonly ProcessLoad[])[][] = COUNTS.map(() => []);
  for (let round = 0; round < plan.rounds; round++) {
    console.error(`processes, round ${round + 1} of ${plan.rounds} …`);
    const turns = COUNTS.map((count, index) => ({ count, index }));
    for (const { count, index } of round % 2 === 0 ? turns : turns.reverse()) {
      rounds[index]!.push(await measureOne(sandbox, generator, main, calls, count, plan));
    }
  }
  return calls.flatMap(({ name }, call) => {
    const loadsOf = (index: number): ProcessLoad[] => rounds[index]!.map((loads) => loads[call]!);
    const single = loadsOf(0).map(({ rate }) => rate);
    return COUNTS.map((processes, index) => {
      const loads = loadsOf(index);
      const rates = loads.map(({ rate }) => rate);
      return { call: name, processes, loads, rate: summarize(rates), ratio: summarize(ratios(rates, single)) };
    });
  });
}

/** Measures each call on one server. */
async function measureOne(
  sandbox: Sandbox,
  generator: LoadGenerator,
  main: string,
  calls: readonly ProcessCall[],
  processes: number,
  plan: { readonly seconds: number; readonly warmUpSeconds: number },
): Promise<ProcessLoad[]> {
  const options = {
    command: [process.execPath, main],
    readyPath: '/health/ready',
    env: { LEAF_PROCESSES: String(processes) },
  };
  const server = await ServerProcess.start(sandbox, options);
  await sleep(SETTLE_MS);
  const measured: ProcessLoad[] = [];
  for (const call of calls) {
    const route: Route = { ...call, server: options };
    await loadOf(route, server, generator, plan.warmUpSeconds);
    const before = cpuSecondsOfEnded();
    const { rate, serverCpu, seconds } = await loadOf(route, server, generator, plan.seconds);
    const after = cpuSecondsOfEnded();
    const generatorCpu = before === undefined || after === undefined ? undefined : (after - before) / seconds;
    measured.push({ rate, serverCpu, generatorCpu });
  }
  await server.stop();
  return measured;
}

export function describeProcesses(reports: readonly ProcessReport[]): string {
  const header = [
    'call',
    'processes',
    'requests/s',
    'min..max',
    'of one',
    'min..max',
    'server: cores',
    'generator: cores',
  ];
  const rows = reports.map(({ call, processes, loads, rate, ratio }) => [
    call,
    String(processes),
    whole(rate.median),
    `${whole(rate.min)}..${whole(rate.max)}`,
    decimals(ratio.median, 2),
    `${decimals(ratio.min, 2)}..${decimals(ratio.max, 2)}`,
    share(loads.map(({ serverCpu }) => serverCpu)),
    share(loads.map(({ generatorCpu }) => generatorCpu)),
  ]);
  return formatTable(header, rows);
}

function share(values: readonly (number | undefined)[]): string {
  const known = summarizeKnown(values);
  return known === undefined ? '' : percent(known.median);
}
