import type { Summary } from '../report/summary';
import { atLeast, atMost, below, type Figure, figure, type Target } from '../report/targets';
import { type FixedRateReport, isGeneratorLate, isRateHeld } from './fixed-rate-report';
import type { ProcessReport } from './processes';
import { PROCESSES, type RestartReport } from './restart';
import type { RouteReport } from './route-report';

export interface HttpOutcome {
  readonly routes: readonly RouteReport[];
  readonly fixedRates: readonly FixedRateReport[];
  /** Undefined if the server does not support several processes. */
  readonly processes: readonly ProcessReport[] | undefined;
  readonly restart: RestartReport | undefined;
  /** Whether the servers had the set-up that the targets are for. */
  readonly production: boolean;
  readonly startMs: Summary;
  readonly memory: { readonly idleMiB: Summary | undefined; readonly loadedMiB: Summary | undefined };
}

const OF_RAW = 1;
const BATCH_RATE = 2_000_000;
const RANGE_RATE = 500_000_000;
const P99_MS = 1;
const P999_MS = 3;
const P99_OF_RAW = 1.1;
const TWO_PROCESSES = 1.6;
const PER_CPU = 0.95;
/** Of the new connections that are the share of one process. Their order is not exact. */
const TAKEN = 0.9;

export function httpTargets({ routes, fixedRates, processes, restart, production }: HttpOutcome): Target[] {
  const batches = routes.filter(({ path }) => path.includes('/batch/'));
  const ranges = routes.filter(({ path }) => path.includes('/range/'));
  const singles = routes.filter(({ name, path }) => name.startsWith('Leaf') && path.includes('/get/'));
  const leaf = fixedRates.filter(({ name }) => name.startsWith('Leaf'));
  return [
    ...singles.map(({ name, ratio }) =>
      atLeast(`${name}, of node:http`, production ? ratio.median : undefined, OF_RAW, 'ratio'),
    ),
    ...leaf.flatMap((report) => (report.ofPeak ? [ofPeakTarget(report)] : calmTargets(report))),
    ...batches.map(({ name, idRate }) => atLeast(name, idRate, BATCH_RATE, 'IDs/s')),
    ...ranges.map(({ name, idRate }) => atLeast(name, idRate, RANGE_RATE, 'IDs/s')),
    ...processTargets(processes),
    ...restartTargets(restart),
  ];
}

function ofPeakTarget(report: FixedRateReport): Target {
  const name = `${report.name}, p99 at ${(report.share * 100).toFixed(0)} % of the peak, of node:http${late(report)}`;
  return atMost(name, isMeasured(report) ? report.p99Ratio.median : undefined, P99_OF_RAW, 'ratio');
}

function calmTargets(report: FixedRateReport): Target[] {
  const of = `at ${report.at}, highest of ${report.calmSeconds} calm seconds of ${report.seconds}`;
  const measured = isMeasured(report);
  return [
    below(`${report.name}, p99 ${of}`, measured ? report.calmP99Ms : undefined, P99_MS, 'ms'),
    below(`${report.name}, p99.9 ${of}`, measured ? report.calmP999Ms : undefined, P999_MS, 'ms'),
  ];
}

function late(report: FixedRateReport): string {
  return isGeneratorLate(report) ? ', generator late' : '';
}

/** Whether the rate was high enough and no request failed: otherwise a latency is not comparable with the target. */
function isMeasured(report: FixedRateReport): boolean {
  return isRateHeld(report) && report.failures === 0;
}

function processTargets(processes: readonly ProcessReport[] | undefined): Target[] {
  if (processes === undefined) return [atLeast('two processes, of one', undefined, TWO_PROCESSES, 'ratio')];
  const several = processes.filter(({ processes: count }) => count > 1);
  return several.flatMap(({ call, processes: count, ratio, cpuRatio }) => [
    ...(count === 2 ? [atLeast(`2 processes, of one, ${call}`, ratio.median, TWO_PROCESSES, 'ratio')] : []),
    atLeast(`${count} processes, per CPU s, of one, ${call}`, cpuRatio?.median, PER_CPU, 'ratio'),
  ]);
}

/** A killed process ends its share of the connections, and fails at most one request of each. */
function restartTargets(restart: RestartReport | undefined): Target[] {
  const share = 1 / PROCESSES;
  const { connections, ended, failed, opened, taken } = restart ?? {
    ...{ connections: NaN, ended: NaN, failed: NaN, opened: NaN, taken: NaN },
  };
  const name = `one of ${PROCESSES} processes killed`;
  return [
    atMost(`${name}: connections that ended`, ended / connections, share, 'ratio'),
    atMost(`${name}: failed requests`, failed, connections * share, 'requests'),
    atLeast(`${name}: new connections to the new one, of its share`, taken / opened / share, TAKEN, 'ratio'),
  ];
}

/** Refused or lost requests, which do not occur on an idle machine. */
export function httpFaults({ routes, fixedRates }: Pick<HttpOutcome, 'routes' | 'fixedRates'>): string[] {
  const loads = routes.map(({ name, loads }) => ({ name, failures: loads.reduce((sum, l) => sum + l.failures, 0) }));
  const steady = fixedRates.map(({ name, at, failures }) => ({ name: `${name}, at ${at}`, failures }));
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
    ...fixedRates.flatMap(({ name, at, p50Ms, p99Ms }) => [
      figure(`${name}, p50 at ${at}`, p50Ms, 'ms'),
      figure(`${name}, p99 at ${at}`, p99Ms, 'ms'),
    ]),
    ...processes.flatMap(({ call, processes: count, rate, cpuRatio }) => [
      figure(`${count} processes, ${call}`, rate.median, 'requests/s'),
      figure(`${count} processes, ${call}, per CPU s, of one`, cpuRatio?.median, 'ratio'),
    ]),
    figure('start to first ID', startMs.median, 'ms'),
    figure('resident, idle', memory.idleMiB?.median, 'MiB'),
    figure('resident, after the load', memory.loadedMiB?.median, 'MiB'),
  ];
}
