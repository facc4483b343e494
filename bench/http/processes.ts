import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ratios, summarize, type Summary } from '../report/summary';
import { decimals, formatTable, percent, whole } from '../../test/support/table';
import { shareCores } from './cores';
import { chooseGenerator, type LoadGenerator } from './load-generator';
import { cpuSecondsOfEnded } from './processor-time';
import { loadOf } from './round';
import type { Route } from './route';
import { summarizeKnown } from './route-report';
import type { Sandbox } from './sandbox';
import { type ServerOptions, ServerProcess } from './server-process';

const COUNTS = [1, 2, 4] as const;

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
  /** The same of the requests per second of CPU time, that of the supervisor included. */
  readonly cpuRatio: Summary | undefined;
}

/** Whether the built server supports several processes. */
export function hasProcesses(main: string): boolean {
  return readFileSync(join(dirname(main), 'config/variables.js'), 'utf8').includes('LEAF_PROCESSES');
}

/** Measures servers of one, two and four processes in turn, without pinning. */
export async function measureProcesses(
  sandbox: Sandbox,
  leaf: ServerOptions,
  calls: readonly ProcessCall[],
  plan: { readonly rounds: number; readonly seconds: number; readonly warmUpSeconds: number },
): Promise<ProcessReport[]> {
  const generator = chooseGenerator(sandbox, shareCores());
  const rounds: (readonly ProcessLoad[])[][] = COUNTS.map(() => []);
  for (let round = 0; round < plan.rounds; round++) {
    console.error(`processes, round ${round + 1} of ${plan.rounds} …`);
    const turns = COUNTS.map((count, index) => ({ count, index }));
    for (const { count, index } of round % 2 === 0 ? turns : turns.reverse()) {
      rounds[index]!.push(await measureOne(sandbox, generator, leaf, calls, count, plan));
    }
  }
  return calls.flatMap(({ name }, call) => {
    const loadsOf = (index: number): ProcessLoad[] => rounds[index]!.map((loads) => loads[call]!);
    const single = loadsOf(0);
    return COUNTS.map((processes, index) => {
      const loads = loadsOf(index);
      const ratioOf = (of: (load: ProcessLoad) => number): number[] => ratios(loads.map(of), single.map(of));
      return {
        ...{ call: name, processes, loads },
        rate: summarize(loads.map(rateOf)),
        ratio: summarize(ratioOf(rateOf)),
        cpuRatio: summarizeKnown(ratioOf(ratePerCpu)),
      };
    });
  });
}

/** The same server with several processes. */
export function ofProcesses({ env, ...options }: ServerOptions, processes: number): ServerOptions {
  return { ...options, env: { ...env, LEAF_PROCESSES: String(processes) } };
}

/** Measures each call on one server. */
async function measureOne(
  sandbox: Sandbox,
  generator: LoadGenerator,
  leaf: ServerOptions,
  calls: readonly ProcessCall[],
  processes: number,
  plan: { readonly seconds: number; readonly warmUpSeconds: number },
): Promise<ProcessLoad[]> {
  const options = ofProcesses(leaf, processes);
  const server = await ServerProcess.start(sandbox, options);
  const measured: ProcessLoad[] = [];
  for (const call of calls) {
    const route: Route = { ...call, server: options };
    // Each process compiles the code for itself.
    await loadOf(route, server, generator, plan.warmUpSeconds * processes);
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
    'per CPU s, of one',
    'min..max',
    'server: cores',
    'generator: cores',
  ];
  const rows = reports.map(({ call, processes, loads, rate, ratio, cpuRatio }) => [
    call,
    String(processes),
    whole(rate.median),
    `${whole(rate.min)}..${whole(rate.max)}`,
    decimals(ratio.median, 2),
    `${decimals(ratio.min, 2)}..${decimals(ratio.max, 2)}`,
    cpuRatio === undefined ? '' : decimals(cpuRatio.median, 2),
    cpuRatio === undefined ? '' : `${decimals(cpuRatio.min, 2)}..${decimals(cpuRatio.max, 2)}`,
    share(loads.map(({ serverCpu }) => serverCpu)),
    share(loads.map(({ generatorCpu }) => generatorCpu)),
  ]);
  return formatTable(header, rows);
}

function rateOf({ rate }: ProcessLoad): number {
  return rate;
}

function ratePerCpu({ rate, serverCpu = NaN }: ProcessLoad): number {
  return rate / serverCpu;
}

function share(values: readonly (number | undefined)[]): string {
  const known = summarizeKnown(values);
  return known === undefined ? '' : percent(known.median);
}
