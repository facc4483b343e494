import { ratios, summarize, type Summary } from '../report/summary';
import { decimals, formatTable, percent, whole } from '../../test/support/table';
import type { Round, RouteLoad } from './round';
import type { Route } from './route';

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
    const rate = summarize(loads.map(rateOf));
    return {
      name,
      path,
      idRate: rate.median * ids,
      loads,
      rate,
      ratio: summarize(ratios(loads.map(rateOf), baseline.map(rateOf))),
      p50Ms: summarize(loads.map(({ p50Ms }) => p50Ms)),
      p99Ms: summarize(loads.map(({ p99Ms }) => p99Ms)),
      serverCpu: summarizeKnown(loads.map(({ serverCpu }) => serverCpu)),
      cpuRatio: summarizeKnown(ratios(loads.map(ratePerCpu), baseline.map(ratePerCpu))),
    };
  });
}

export function describeRoutes(reports: readonly RouteReport[]): string {
  const header = [
    'route',
    'requests/s',
    'min..max',
    'IDs/s',
    'of node:http',
    'min..max',
    'p50 ms',
    'p99 ms',
    'server CPU',
    'per CPU s, of node:http',
  ];
  const rows = reports.map(({ name, rate, idRate, ratio, p50Ms, p99Ms, serverCpu, cpuRatio }) => [
    name,
    whole(rate.median),
    `${whole(rate.min)}..${whole(rate.max)}`,
    whole(idRate),
    decimals(ratio.median, 2),
    `${decimals(ratio.min, 2)}..${decimals(ratio.max, 2)}`,
    latency(p50Ms),
    latency(p99Ms),
    serverCpu === undefined ? '' : percent(serverCpu.median),
    cpuRatio === undefined ? '' : decimals(cpuRatio.median, 2),
  ]);
  const lines = [formatTable(header, rows)];
  const waiting = reports.filter(({ serverCpu }) => serverCpu !== undefined && serverCpu.median < SATURATED);
  if (waiting.length > 0) {
    const names = waiting.map(({ name }) => name).join('; ');
    lines.push('', `The generator, or other work on the machine, limited these routes: ${names}.`);
    lines.push(
      'Their requests/s are too low and their ratios are wrong; the last column is least affected. Repeat on an idle machine.',
    );
  }
  return lines.join('\n');
}

/** autocannon reports whole milliseconds, rounded down. */
function latency({ median }: Summary): string {
  return median === 0 ? '<1' : decimals(median, 2);
}

function rateOf({ rate }: RouteLoad): number {
  return rate;
}

function ratePerCpu({ rate, serverCpu = NaN }: RouteLoad): number {
  return rate / serverCpu;
}

/** Undefined unless every value is known. */
export function summarizeKnown(values: readonly (number | undefined)[]): Summary | undefined {
  const known = values.filter((value): value is number => value !== undefined && Number.isFinite(value));
  return known.length === values.length ? summarize(known) : undefined;
}
