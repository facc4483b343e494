import { runLoad } from '../load/load';
import type { LoadResult } from '../load/record';
import { ratios, summarize, type Summary } from '../report/figures';
import { decimals, formatTable, percent, spread, whole } from '../report/table';
import { CONNECTIONS } from './load-generator';
import type { Rig, Route } from './route';
import type { ServerProcess } from './server-process';

const SHARE_OF_PEAK = 0.7;
/** Of the peak of the baseline. At a higher share, a queue would grow until the end. */
const MAX_SHARE_OF_PEAK = 0.9;
/** If the error of the load generator is larger than this, latencies below a millisecond are meaningless. */
const LATENESS_LIMIT_MS = 0.5;

/** A route and the baseline at the same rate. */
export interface FixedRateLoad {
  readonly name: string;
  readonly perSecond: number;
  /** `perSecond` as a share of the peak of this route. */
  readonly share: number;
  readonly result: LoadResult;
  readonly baseline: LoadResult;
}

export interface FixedRateReport extends Readonly<Record<'p50Ms' | 'p99Ms' | 'p999Ms' | 'baselineP99Ms', Summary>> {
  readonly name: string;
  readonly perSecond: number;
  readonly share: number;
  /** Ratio of the p99 to that of the baseline in the same round. */
  readonly p99Ratio: Summary;
  readonly maxMs: number;
  /** How late the generator sent requests, the p99: its own error, which is part of each latency. */
  readonly latenessMs: number;
  /** Lost requests of all rounds. The percentiles do not include them. */
  readonly failures: number;
}

/**
 * Sends requests at a fixed rate (open loop) to the route and to the baseline. Latency counts from the time at which
 * each request was due.
 *
 * @param peakOf the peak of a route in this round, in requests per second
 * @param reversed whether to begin with the baseline
 */
export async function measureAtFixedRate(
  { sandbox, cores }: Rig,
  [baseline, route]: readonly [Route, Route],
  servers: { serverOf(route: Route): ServerProcess; peakOf(route: Route): number },
  { seconds, reversed }: { readonly seconds: number; readonly reversed: boolean },
): Promise<FixedRateLoad> {
  const peak = servers.peakOf(route);
  const perSecond = Math.floor(Math.min(SHARE_OF_PEAK * peak, MAX_SHARE_OF_PEAK * servers.peakOf(baseline)));
  const results = new Map<Route, LoadResult>();
  for (const each of reversed ? [baseline, route] : [route, baseline]) {
    const server = servers.serverOf(each);
    const load = { port: server.port, path: each.path, connections: CONNECTIONS, perSecond, seconds };
    results.set(each, await runLoad(sandbox, cores, load));
    server.assertAlive();
  }
  const measured = { result: results.get(route)!, baseline: results.get(baseline)! };
  return { name: route.name, perSecond, share: perSecond / peak, ...measured };
}

/** @param rounds the loads of each round, in the same order */
export function summarizeFixedRates(rounds: readonly (readonly FixedRateLoad[])[]): FixedRateReport[] {
  return (rounds[0] ?? []).map(({ name }, index) => {
    const loads = rounds.map((round) => round[index]!);
    const results = loads.map(({ result }) => result);
    const of = (key: keyof LoadResult): number[] => results.map((result) => result[key]);
    const baselineP99s = loads.map(({ baseline }) => baseline.p99Ms);
    return {
      name,
      perSecond: summarize(loads.map(({ perSecond }) => perSecond)).median,
      share: summarize(loads.map(({ share }) => share)).median,
      ...{ p50Ms: summarize(of('p50Ms')), p99Ms: summarize(of('p99Ms')), p999Ms: summarize(of('p999Ms')) },
      baselineP99Ms: summarize(baselineP99s),
      p99Ratio: summarize(ratios(of('p99Ms'), baselineP99s)),
      maxMs: Math.max(...of('maxMs')),
      latenessMs: summarize(of('latenessP99Ms')).median,
      failures: of('failed').reduce((sum, failed) => sum + failed, 0),
    };
  });
}

export function describeFixedRates(reports: readonly FixedRateReport[]): string {
  const header = ['at a fixed rate', 'requests/s', 'of peak', 'p50 ms', 'p99 ms', 'min..max', 'node:http: p99 ms'];
  const more = ['of node:http', 'min..max', 'p99.9 ms', 'max ms', 'generator late: p99 ms'];
  const short = (ms: number): string => decimals(ms, 2);
  const rows = reports.map((report) => [
    ...[report.name, whole(report.perSecond), percent(report.share), decimals(report.p50Ms.median, 3)],
    ...[...spread(report.p99Ms, short), short(report.baselineP99Ms.median), ...spread(report.p99Ratio, short)],
    ...[report.p999Ms.median, report.maxMs, report.latenessMs].map(short),
  ]);
  const late = reports.filter(isGeneratorLate).map(({ name }) => name);
  const warning = `The generator sent requests late, so these latencies are too high: ${late.join('; ')}.`;
  return [formatTable([...header, ...more], rows), ...(late.length > 0 ? [warning] : [])].join('\n');
}

/** Whether the generator, or other work on its core, dominates the latencies. */
export function isGeneratorLate({ latenessMs }: FixedRateReport): boolean {
  return latenessMs > LATENESS_LIMIT_MS;
}
