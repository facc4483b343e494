import { summarize } from '../report/summary';
import { decimals, formatTable, percent, whole } from '../report/table';
import { type FixedRateLoad, SHARE_OF_PEAK } from './fixed-rate';

/** If the error of the load generator is larger than this, latencies below a millisecond are meaningless. */
const LATENESS_LIMIT_MS = 0.5;

export interface FixedRateReport {
  readonly name: string;
  readonly perSecond: number;
  readonly share: number;
  /** Medians of the rounds; `maxMs` is the maximum of all rounds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p99Spread: string;
  readonly p999Ms: number;
  readonly maxMs: number;
  readonly latenessP99Ms: number;
  readonly latenessMaxMs: number;
  readonly limit: number;
  /** Share of requests without a free connection. */
  readonly waited: number;
  /** Refused or lost requests of all rounds. The percentiles do not include them. */
  readonly failures: number;
}

/** @param rounds the loads of each round, in the same order */
export function summarizeFixedRates(rounds: readonly (readonly FixedRateLoad[])[]): FixedRateReport[] {
  return (rounds[0] ?? []).map(({ name }, index) => {
    const loads = rounds.map((round) => round[index]!);
    const median = (of: (load: FixedRateLoad) => number): number => summarize(loads.map(of)).median;
    const p99 = summarize(loads.map(({ p99Ms }) => p99Ms));
    return {
      name,
      perSecond: median((load) => load.perSecond),
      share: median((load) => load.share),
      p50Ms: median((load) => load.p50Ms),
      p99Ms: p99.median,
      p99Spread: `${decimals(p99.min, 2)}..${decimals(p99.max, 2)}`,
      p999Ms: median((load) => load.p999Ms),
      maxMs: Math.max(...loads.map(({ maxMs }) => maxMs)),
      latenessP99Ms: median((load) => load.lateness.p99Ms),
      latenessMaxMs: Math.max(...loads.map(({ lateness }) => lateness.maxMs)),
      limit: median((load) => load.limit),
      waited: median((load) => load.waited / load.offered),
      failures: loads.reduce((sum, { refused, failed }) => sum + refused + failed, 0),
    };
  });
}

export function describeFixedRates(reports: readonly FixedRateReport[]): string {
  const header = ['at a fixed rate', 'requests/s', 'of peak', 'p50 ms', 'p99 ms', 'min..max', 'p99.9 ms', 'max ms'];
  const own = ['waited', 'generator late: p99 ms', 'max ms'];
  const rows = reports.map((report) => [
    report.name,
    whole(report.perSecond),
    percent(report.share),
    decimals(report.p50Ms, 3),
    decimals(report.p99Ms, 3),
    report.p99Spread,
    decimals(report.p999Ms, 2),
    decimals(report.maxMs, 2),
    percent(report.waited),
    decimals(report.latenessP99Ms, 3),
    decimals(report.latenessMaxMs, 2),
  ]);
  const limit = reports[0]?.limit ?? NaN;
  const lines = [formatTable([...header, ...own], rows)];
  lines.push(`The generator alone reached ${whole(limit)} requests/s on ${reports[0]?.name ?? 'no route'}.`);
  const held = reports.filter(({ share }) => share < SHARE_OF_PEAK - 0.01);
  if (held.length > 0) {
    const names = held.map(({ name }) => name).join('; ');
    lines.push(`It cannot generate ${percent(SHARE_OF_PEAK)} of the peak, so these routes had a lower rate: ${names}.`);
  }
  const late = reports.filter(isGeneratorLate);
  if (late.length > 0) {
    lines.push(
      `The generator sent requests late, so these latencies are too high: ${late.map(({ name }) => name).join('; ')}.`,
    );
  }
  return lines.join('\n');
}

/** Whether the generator, or other work on its core, dominates the latencies. */
export function isGeneratorLate({ latenessP99Ms }: FixedRateReport): boolean {
  return latenessP99Ms > LATENESS_LIMIT_MS;
}
