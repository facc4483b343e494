import { ratios, summarize, type Summary } from '../report/summary';
import { decimals, formatTable, percent, whole } from '../../test/support/table';
import { calmSeconds, type FixedRateLoad } from './fixed-rate';

/** If the error of the load generator is larger than this, latencies below a millisecond are meaningless. */
const LATENESS_LIMIT_MS = 0.5;
/** Below this share of the wanted rate, it counts as another rate. */
const HELD = 0.98;

export interface FixedRateReport {
  readonly name: string;
  readonly at: string;
  readonly ofPeak: boolean;
  readonly perSecond: number;
  readonly share: number;
  readonly ofWanted: number;
  /** Medians of the rounds; `maxMs` is the maximum of all rounds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p99Spread: string;
  /** Ratio of the p99 to that of the baseline at the same rate in the same round. */
  readonly p99Ratio: Summary;
  readonly p999Ms: number;
  readonly maxMs: number;
  readonly latenessP99Ms: number;
  readonly latenessMaxMs: number;
  readonly limit: number;
  /** Refused or lost requests of all rounds. The percentiles do not include them. */
  readonly failures: number;
  /** Of all rounds; the highest percentiles of one calm second, undefined if there was none. */
  readonly seconds: number;
  readonly calmSeconds: number;
  readonly calmP99Ms: number | undefined;
  readonly calmP999Ms: number | undefined;
}

/** @param rounds the loads of each round, in the same order; the first load at a rate is the baseline */
export function summarizeFixedRates(rounds: readonly (readonly FixedRateLoad[])[]): FixedRateReport[] {
  return (rounds[0] ?? []).map(({ name, at, ofPeak }, index, all) => {
    const loads = rounds.map((round) => round[index]!);
    const baseline = rounds.map((round) => round[all.findIndex((load) => load.at === at)]!);
    const median = (of: (load: FixedRateLoad) => number): number => summarize(loads.map(of)).median;
    const p99 = summarize(loads.map(p99Of));
    const calm = loads.flatMap(calmSeconds);
    const highest = (values: readonly number[]): number | undefined =>
      calm.length > 0 ? Math.max(...values) : undefined;
    return {
      ...{ name, at, ofPeak },
      perSecond: median((load) => load.perSecond),
      share: median((load) => load.share),
      ofWanted: median((load) => load.ofWanted),
      p50Ms: median((load) => load.p50Ms),
      p99Ms: p99.median,
      p99Spread: `${decimals(p99.min, 2)}..${decimals(p99.max, 2)}`,
      p99Ratio: summarize(ratios(loads.map(p99Of), baseline.map(p99Of))),
      p999Ms: median((load) => load.p999Ms),
      maxMs: Math.max(...loads.map(({ maxMs }) => maxMs)),
      latenessP99Ms: median((load) => load.lateness.p99Ms),
      latenessMaxMs: Math.max(...loads.map(({ lateness }) => lateness.maxMs)),
      limit: median((load) => load.limit),
      failures: loads.reduce((sum, { refused, failed }) => sum + refused + failed, 0),
      seconds: loads.reduce((sum, { ofSeconds }) => sum + ofSeconds.length - 1, 0),
      calmSeconds: calm.length,
      calmP99Ms: highest(calm.map(({ p99Ms }) => p99Ms)),
      calmP999Ms: highest(calm.map(({ p999Ms }) => p999Ms)),
    };
  });
}

function p99Of({ p99Ms }: FixedRateLoad): number {
  return p99Ms;
}

export function describeFixedRates(reports: readonly FixedRateReport[]): string {
  const header = ['at a fixed rate', 'rate', 'requests/s', 'of peak', 'p50 ms', 'p99 ms', 'min..max'];
  const more = ['of node:http', 'min..max', 'p99.9 ms', 'max ms', 'generator late: p99 ms', 'max ms'];
  const ofCalm = ['calm seconds', 'highest p99 ms', 'p99.9 ms'];
  const rows = reports.map((report) => [
    report.name,
    report.at,
    whole(report.perSecond),
    percent(report.share),
    decimals(report.p50Ms, 3),
    decimals(report.p99Ms, 3),
    report.p99Spread,
    decimals(report.p99Ratio.median, 2),
    `${decimals(report.p99Ratio.min, 2)}..${decimals(report.p99Ratio.max, 2)}`,
    decimals(report.p999Ms, 2),
    decimals(report.maxMs, 2),
    decimals(report.latenessP99Ms, 3),
    decimals(report.latenessMaxMs, 2),
    `${report.calmSeconds} of ${report.seconds}`,
    report.calmP99Ms === undefined ? '' : decimals(report.calmP99Ms, 2),
    report.calmP999Ms === undefined ? '' : decimals(report.calmP999Ms, 2),
  ]);
  const limit = reports[0]?.limit ?? NaN;
  const lines = [formatTable([...header, ...more, ...ofCalm], rows)];
  lines.push(`The generator alone reached ${whole(limit)} requests/s on ${reports[0]?.name ?? 'no route'}.`);
  const named = (some: readonly FixedRateReport[]): string => some.map(({ name, at }) => `${name} at ${at}`).join('; ');
  const low = reports.filter((report) => !isRateHeld(report));
  if (low.length > 0) {
    lines.push(`The generator or a server cannot reach the rate, so these loads had a lower rate: ${named(low)}.`);
  }
  const late = reports.filter(isGeneratorLate);
  if (late.length > 0) lines.push(`The generator sent requests late, so these latencies are too high: ${named(late)}.`);
  return lines.join('\n');
}

/** Whether the load had the rate that was wanted. */
export function isRateHeld({ ofWanted }: FixedRateReport): boolean {
  return ofWanted >= HELD;
}

/** Whether the generator, or other work on its core, dominates the latencies. */
export function isGeneratorLate({ latenessP99Ms }: FixedRateReport): boolean {
  return latenessP99Ms > LATENESS_LIMIT_MS;
}
