import { inTurn } from '../harness';
import { ratios, summarize, summarizeKnown, type Summary } from '../report/figures';
import { decimals, formatTable, percent, spread } from '../report/table';
import { shareCores } from './cores';
import { chooseGenerator, type LoadGenerator } from './load-generator';
import { cpuSecondsOfEnded } from './processor-time';
import type { RoundPlan } from './round';
import { loadOf, type Route, type RouteLoad } from './route';
import type { Sandbox } from './sandbox';
import { type ServerOptions, ServerProcess } from './server-process';

const COUNTS = [1, 2, 4] as const;

interface ProcessLoad extends RouteLoad {
  /** Cores that the generator used; NaN if unknown. */
  readonly generatorCpu: number;
}

/** The requests. */
export type ProcessCall = Pick<Route, 'name' | 'path' | 'ids'>;

export interface ProcessReport {
  readonly call: string;
  readonly processes: number;
  readonly rate: Summary;
  /** Ratio to one process in the same round. */
  readonly ratio: Summary;
  /** The same of the requests per second of CPU time, that of the supervisor included. */
  readonly cpuRatio: Summary | undefined;
  /** Cores that the server and the generator used. */
  readonly serverCpu: Summary | undefined;
  readonly generatorCpu: Summary | undefined;
}

type ProcessPlan = Omit<RoundPlan, 'fixedRateSeconds'>;

/** Measures servers of one, two and four processes in turn, without pinning. */
export async function measureProcesses(
  sandbox: Sandbox,
  leaf: ServerOptions,
  calls: readonly ProcessCall[],
  plan: ProcessPlan & { readonly rounds: number },
): Promise<ProcessReport[]> {
  const generator = chooseGenerator(sandbox, shareCores());
  const measured = await inTurn(COUNTS, plan.rounds, (count) =>
    measureOne(sandbox, generator, leaf, calls, count, plan),
  );
  return calls.flatMap(({ name }, call) => {
    const valuesOf = (count: (typeof COUNTS)[number], of: keyof ProcessLoad): number[] =>
      measured.get(count)!.map((loads) => loads[call]![of]);
    return COUNTS.map((count) => {
      const ratioOf = (of: keyof ProcessLoad): number[] => ratios(valuesOf(count, of), valuesOf(1, of));
      return {
        ...{ call: name, processes: count },
        rate: summarize(valuesOf(count, 'rate')),
        ratio: summarize(ratioOf('rate')),
        cpuRatio: summarizeKnown(ratioOf('perCpu')),
        serverCpu: summarizeKnown(valuesOf(count, 'serverCpu')),
        generatorCpu: summarizeKnown(valuesOf(count, 'generatorCpu')),
      };
    });
  });
}

/** Measures each call on one server. */
async function measureOne(
  sandbox: Sandbox,
  generator: LoadGenerator,
  { env, ...options }: ServerOptions,
  calls: readonly ProcessCall[],
  processes: number,
  plan: ProcessPlan,
): Promise<ProcessLoad[]> {
  const server = await ServerProcess.start(sandbox, { ...options, env: { ...env, LEAF_PROCESSES: String(processes) } });
  const measured: ProcessLoad[] = [];
  for (const call of calls) {
    // Each process compiles the code for itself.
    await loadOf(call, server, generator, plan.warmUpSeconds * processes);
    const before = cpuSecondsOfEnded() ?? NaN;
    const load = await loadOf(call, server, generator, plan.seconds);
    measured.push({ ...load, generatorCpu: ((cpuSecondsOfEnded() ?? NaN) - before) / load.seconds });
  }
  await server.stop();
  return measured;
}

export function describeProcesses(reports: readonly ProcessReport[]): string {
  const rates = ['call', 'processes', 'requests/s', 'min..max', 'of one', 'min..max'];
  const header = [...rates, 'per CPU s, of one', 'min..max', 'server: cores', 'generator: cores'];
  const short = (value: number): string => decimals(value, 2);
  const rows = reports.map(({ call, processes, rate, ratio, cpuRatio, serverCpu, generatorCpu }) => [
    ...[call, String(processes)],
    ...[...spread(rate), ...spread(ratio, short), ...spread(cpuRatio, short)],
    ...[percent(serverCpu?.median), percent(generatorCpu?.median)],
  ]);
  return formatTable(header, rows);
}
