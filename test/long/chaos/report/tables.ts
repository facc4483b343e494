import type { KindSummary, Summary } from './summary';

const HEADER = [
  'fault',
  'times',
  'recovery, median',
  'longest',
  'segment calls',
  'snowflake calls',
  'calls of one server',
  'refusals',
];

/** The rows of the summary, as text. */
export function rowsOf({ kinds, pairs }: Summary): string[][] {
  return [HEADER, ...[...kinds, pairs].filter(({ faults }) => faults > 0).map(row)];
}

/** What was done to tags, and how often. */
export function changesOf({ tagChanges }: Summary): string {
  return Object.entries(tagChanges)
    .map(([change, times]) => `${change} ${times}`)
    .join(', ');
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Rounded down: what is not all of it never shows as 100 %. */
export function percent(share: number): string {
  const round2 = Math.floor(share * 10_000) / 100;
  return `${share === 1 ? '100' : round2.toFixed(2)} %`;
}

function row({ kind, faults, recoveryMs, segment, snowflake, oneServer, codes }: KindSummary): string[] {
  const [median, max] = recoveryMs === undefined ? ['', ''] : [seconds(recoveryMs.median), seconds(recoveryMs.max)];
  return [kind, String(faults), median, max, percent(segment), percent(snowflake), percent(oneServer), codes.join(' ')];
}
