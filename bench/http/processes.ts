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

export interface ProcessReport {
  readonly processes: number;
  readonly loads: readonly ProcessLoad[];
  readonly rate: Summary;
  /** To one process, in the same round. */
  readonly ratio: Summary;
}

/** Whether the built server can be several processes. */
export function hasProcesses(main: string): boolean {
  return readFileSync(join(dirname(main), 'config/variables.js'), 'utf8').includes('LEAF_PROCESSES');
}

/** One server of one process and one of two, in turn, while the kernel places them and the generator as it likes. */
export async function measureProcesses(
  sandbox: Sandbox,
  main: string,
  path: string,
  plan: { readonly rounds: number; readonly seconds: number; readonly warmUpSeconds: number },
): Promise<ProcessReport[]> {
  const generator = chooseGenerator(sandbox, shareCores());
  const loads = new Map<number, ProcessLoad[]>(COUNTS.map((count) => [count, []]));
  for (let round = 0; round < plan.rounds; round++) {
    console.error(`processes, round ${round + 1} of ${plan.rounds} …`);
    for (const count of round % 2 === 0 ? COUNTS : COUNTS.toReversed()) {
      loads.get(count)?.push(await measureOne(sandbox, generator, main, path, count, plan));
    }
  }
  const single = loads.get(1)!.map(({ rate }) => rate);
  return COUNTS.map((processes) => {
    const own = loads.get(processes)!;
    const rates = own.map(({ rate }) => rate);
    return { processes, loads: own, rate: summarize(rates), ratio: summarize(ratios(rates, single)) };
  });
}

async function measureOne(
  sandbox: Sandbox,
  generator: LoadGenerator,
  main: string,
  path: string,
  processes: number,
  plan: { readonly seconds: number; readonly warmUpSeconds: number },
): Promise<ProcessLoad> {
  const options = {
    command: [process.execPath, main],
    readyPath: '/health/ready',
    env: { LEAF_PROCESSES: String(processes) },
  };
  const route: Route = { name: `${processes} processes`, server: options, path, ids: 1 };
  const server = await ServerProcess.start(sandbox, options);
  await sleep(SETTLE_MS);
  await loadOf(route, server, generator, plan.warmUpSeconds);
  const before = cpuSecondsOfEnded();
  const { rate, serverCpu, seconds } = await loadOf(route, server, generator, plan.seconds);
  const after = cpuSecondsOfEnded();
  await server.stop();
  const generatorCpu = before === undefined || after === undefined ? undefined : (after - before) / seconds;
  return { rate, serverCpu, generatorCpu };
}

export function describeProcesses(reports: readonly ProcessReport[]): string {
  const header = ['processes', 'requests/s', 'min..max', 'of one', 'min..max', 'server: cores', 'generator: cores'];
  const rows = reports.map(({ processes, loads, rate, ratio }) => [
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
