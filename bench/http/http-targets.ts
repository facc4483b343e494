import type { Summary } from '../report/summary';
import { atLeast, below, type Figure, figure, type Target } from '../report/targets';
import { SHARE_OF_PEAK } from './fixed-rate';
import { type FixedRateReport, isGeneratorLate } from './fixed-rate-report';
import type { ProcessReport } from './processes';
import type { RouteReport } from './route-report';

export interface HttpOutcome {
  readonly routes: readonly RouteReport[];
  readonly fixedRates: readonly FixedRateReport[];
  /** Undefined if the server does not support several processes. */
  readonly processes: readonly ProcessReport[] | undefined;
  readonly startMs: Summary;
  readonly memory: { readonly idleMiB: Summary | undefined; readonly loadedMiB: Summary | undefined };
}

const OF_RAW = 0.9;
const BATCH_RATE = 2_000_000;
const RANGE_RATE = 500_000_000;
const P99_MS = 1;
const TWO_PROCESSES = 1.6;

export function httpTargets({ routes, fixedRates, processes }: HttpOutcome): Target[] {
  const batches = routes.filter(({ path }) => path.includes('/batch/'));
  const ranges = routes.filter(({ path }) => path.includes('/range/'));
  const singles = routes.filter(({ name, path }) => name.startsWith('Leaf') && path.includes('/get/'));
  const leaf = fixedRates.filter(({ name }) => name.startsWith('Leaf'));
  const two = processes?.filter(({ processes: count }) => count === 2) ?? [{ call: 'one ID', ratio: undefined }];
  return [
    ...singles.map(({ name, ratio }) => atLeast(`${name}, of node:http`, ratio.median, OF_RAW, 'ratio')),
    ...leaf.map((report) => below(latencyName(report), measured(report), P99_MS, 'ms')),
    ...batches.map(({ name, idRate }) => atLeast(name, idRate, BATCH_RATE, 'IDs/s')),
    ...ranges.map(({ name, idRate }) => atLeast(name, idRate, RANGE_RATE, 'IDs/s')),
    ...two.map(({ call, ratio }) => atLeast(`two processes, of one, ${call}`, ratio?.median, TWO_PROCESSES, 'ratio')),
  ];
}

function latencyName(report: FixedRateReport): string {
  const late = isGeneratorLate(report) ? ', generator late' : '';
  return `${report.name}, p99 at ${(report.share * 100).toFixed(0)} % of the peak${late}`;
}

/** Undefined if the rate was too low or requests failed: such a latency is not comparable with the target. */
function measured({ share, p99Ms, failures }: FixedRateReport): number | undefined {
  return share < SHARE_OF_PEAK - 0.01 || failures > 0 ? undefined : p99Ms;
}

/** Refused or lost requests, which do not occur on an idle machine. */
export function httpFaults({ routes, fixedRates }: Pick<HttpOutcome, 'routes' | 'fixedRates'>): string[] {
  const loads = routes.map(({ name, loads }) => ({ name, failures: loads.reduce((sum, l) => sum + l.failures, 0) }));
  const steady = fixedRates.map(({ name, failures }) => ({ name: `${name}, at a fixed rate`, failures }));
  return [...loads, ...steady]
    .filter(({ failures }) => failures > 0)
    .map(({ name, failures }) => `${name}: ${failures} requests failed`);
}

export function httpFigures({ routes, fixedRates, processes = [], startMs, memory }: HttpOutcome): Figure[] {
  return [
    ...routes.flatMap(({ name, rate, ratio, cpuRatio }) => [
      figure(name, rate.median, 'requests/s'),
      figure(`${name}, of node:http`, ratio.median, 'ratio'),
      figure(`${name}, of node:http per CPU s`, cpuRatio?.median, 'ratio'),
    ]),
    ...fixedRates.flatMap(({ name, p50Ms, p99Ms }) => [
      figure(`${name}, p50 at a fixed rate`, p50Ms, 'ms'),
      figure(`${name}, p99 at a fixed rate`, p99Ms, 'ms'),
    ]),
    ...processes.map(({ call, processes: count, rate }) =>
      figure(`${count} processes, ${call}`, rate.median, 'requests/s'),
    ),
    figure('start to first ID', startMs.median, 'ms'),
    figure('resident, idle', memory.idleMiB?.median, 'MiB'),
    figure('resident, after the load', memory.loadedMiB?.median, 'MiB'),
  ];
}
