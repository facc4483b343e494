import { ratios, summarize, summarizeKnown, type Summary } from '../report/figures';
import { decimals, formatTable, percent, spread, whole } from '../report/table';
import type { Round } from './round';
import type { Route, RouteLoad } from './route';

export interface RouteReport {
  readonly name: string;
  readonly path: string;
  /** IDs per second. */
  readonly idRate: number;
  /** One entry per round. */
  readonly loads: readonly RouteLoad[];
  /** Requests per second. */
  readonly rate: Summary;
  /** Ratio of the rate to that of the baseline in the same round. */
  readonly ratio: Summary;
  readonly p50Ms: Summary;
  readonly p99Ms: Summary;
  /** CPU usage of the server in cores. Below 1, the server was not the bottleneck. */
  readonly serverCpu: Summary | undefined;
  /** Requests per second of CPU time, relative to the baseline. Hardly depends on the bottleneck. */
  readonly cpuRatio: Summary | undefined;
}

/** A server with lower CPU usage was waiting for the generator. */
const SATURATED = 0.95;

/** One report per route; the first route is the baseline. */
export function summarizeRoutes(routes: readonly Route[], rounds: readonly Round[]): RouteReport[] {
  const baseline = rounds.map(({ loads }) => loads[0]!);
  return routes.map(({ name, path, ids }, index) => {
    const loads = rounds.map((round) => round.loads[index]!);
    const valuesOf = (of: keyof RouteLoad, from = loads): number[] => from.map((load) => load[of]);
    const ratiosOf = (of: keyof RouteLoad): number[] => ratios(valuesOf(of), valuesOf(of, baseline));
    const rate = summarize(valuesOf('rate'));
    return {
      ...{ name, path, loads, rate, idRate: rate.median * ids },
      ratio: summarize(ratiosOf('rate')),
      p50Ms: summarize(valuesOf('p50Ms')),
      p99Ms: summarize(valuesOf('p99Ms')),
      serverCpu: summarizeKnown(valuesOf('serverCpu')),
      cpuRatio: summarizeKnown(ratiosOf('perCpu')),
    };
  });
}

export function describeRoutes(reports: readonly RouteReport[]): string {
  const rates = ['route', 'requests/s', 'min..max', 'IDs/s', 'of node:http', 'min..max'];
  const header = [...rates, 'p50 ms', 'p99 ms', 'server CPU', 'per CPU s, of node:http'];
  const rows = reports.map(({ name, rate, idRate, ratio, p50Ms, p99Ms, serverCpu, cpuRatio }) => [
    ...[name, ...spread(rate), whole(idRate), ...spread(ratio, (value) => decimals(value, 2))],
    ...[latency(p50Ms), latency(p99Ms), percent(serverCpu?.median), decimals(cpuRatio?.median, 2)],
  ]);
  const lines = [formatTable(header, rows)];
  const waiting = reports.filter(({ serverCpu }) => serverCpu !== undefined && serverCpu.median < SATURATED);
  if (waiting.length > 0) {
    const names = waiting.map(({ name }) => name).join('; ');
    lines.push('', `The generator, or other work on the machine, limited these routes: ${names}.`);
    lines.push('Their requests/s are too low and their ratios are wrong; the last column is least affected.');
    lines.push('Repeat on an idle machine.');
  }
  return lines.join('\n');
}

/** autocannon reports whole milliseconds, rounded down. */
function latency({ median }: Summary): string {
  return median === 0 ? '<1' : decimals(median, 2);
}
