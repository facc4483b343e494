import { atLeast, atMost, type Figure, figure, type Target } from '../report/figures';
import { type FixedRateReport, isGeneratorLate } from './fixed-rate';
import type { ProcessReport } from './processes';
import type { RouteReport } from './route-report';

export interface HttpOutcome {
  readonly routes: readonly RouteReport[];
  readonly fixedRates: readonly FixedRateReport[];
  readonly processes: readonly ProcessReport[];
  /** Whether the servers had the set-up that the targets are for. */
  readonly production: boolean;
}

const OF_RAW = 1;
const BATCH_RATE = 2_000_000;
const RANGE_RATE = 500_000_000;
const P99_OF_RAW = 1.1;
const TWO_PROCESSES = 1.6;
const PER_CPU = 0.95;

export function httpTargets({ routes, fixedRates, processes, production }: HttpOutcome): Target[] {
  const batches = routes.filter(({ path }) => path.includes('/batch/'));
  const ranges = routes.filter(({ path }) => path.includes('/range/'));
  const singles = routes.filter(({ name, path }) => name.startsWith('Leaf') && path.includes('/get/'));
  return [
    ...singles.map(({ name, ratio }) =>
      atLeast(`${name}, of node:http`, production ? ratio.median : undefined, OF_RAW, 'ratio'),
    ),
    ...fixedRates.map(latencyTarget),
    ...batches.map(({ name, idRate }) => atLeast(name, idRate, BATCH_RATE, 'IDs/s')),
    ...ranges.map(({ name, idRate }) => atLeast(name, idRate, RANGE_RATE, 'IDs/s')),
    ...processTargets(processes),
  ];
}

/** Not measured if a request failed: the percentiles do not include it. */
function latencyTarget(report: FixedRateReport): Target {
  const { name, share, p99Ratio, failures } = report;
  const late = isGeneratorLate(report) ? ', generator late' : '';
  const title = `${name}, p99 at ${(share * 100).toFixed(0)} % of the peak, of node:http${late}`;
  return atMost(title, failures === 0 ? p99Ratio.median : undefined, P99_OF_RAW, 'ratio');
}

function processTargets(processes: readonly ProcessReport[]): Target[] {
  const several = processes.filter(({ processes: count }) => count > 1);
  return several.flatMap(({ call, processes: count, ratio, cpuRatio }) => [
    ...(count === 2 ? [atLeast(`2 processes, of one, ${call}`, ratio.median, TWO_PROCESSES, 'ratio')] : []),
    atLeast(`${count} processes, per CPU s, of one, ${call}`, cpuRatio?.median, PER_CPU, 'ratio'),
  ]);
}

/** Refused or lost requests, which do not occur on an idle machine. */
export function httpFaults({ routes, fixedRates }: HttpOutcome): string[] {
  const loads = routes.map(({ name, loads }) => ({ name, failures: loads.reduce((sum, l) => sum + l.failures, 0) }));
  const steady = fixedRates.map(({ name, failures }) => ({ name: `${name}, at a fixed rate`, failures }));
  const failed = [...loads, ...steady].filter(({ failures }) => failures > 0);
  return failed.map(({ name, failures }) => `${name}: ${failures} requests failed`);
}

export function httpFigures({ routes, fixedRates, processes }: HttpOutcome): Figure[] {
  return [
    ...routes.flatMap(({ name, rate, ratio, cpuRatio }) => [
      figure(name, rate.median, 'requests/s'),
      figure(`${name}, of node:http`, ratio.median, 'ratio'),
      figure(`${name}, of node:http per CPU s`, cpuRatio?.median, 'ratio'),
    ]),
    ...fixedRates.flatMap(({ name, p50Ms, p99Ms }) => [
      figure(`${name}, p50 at a fixed rate`, p50Ms.median, 'ms'),
      figure(`${name}, p99 at a fixed rate`, p99Ms.median, 'ms'),
    ]),
    ...processes.flatMap(({ call, processes: count, rate, cpuRatio }) => [
      figure(`${count} processes, ${call}`, rate.median, 'requests/s'),
      figure(`${count} processes, ${call}, per CPU s, of one`, cpuRatio?.median, 'ratio'),
    ]),
  ];
}
