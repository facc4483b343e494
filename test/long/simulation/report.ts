import { EXCUSES } from './excuses';
import { FAULTS } from './faults';
import { SEGMENT_FAULTS } from './segments/segment-faults';
import { SEGMENT_EXCUSES } from './segments/segment-ledger';
import { describeFailure } from './seeds';
import type { Totals } from './totals';

/** Of the longest condition. */
const WIDTH = 92;

/** The result of a run as text. */
export function report(
  { seeds, steps, tally, faults, excused, strategies, segments, failure }: Totals,
  ms: number,
): void {
  const rows: (readonly [string, number])[] = [
    ['worlds', seeds],
    ...Object.entries(strategies).map(([name, count]) => [`  ${name}`, count] as const),
    ['steps', steps],
    ['IDs checked', tally.ids],
    ['IDs of clients', tally.windowIds],
    ['windows', tally.windows],
    ['leases acquired', tally.acquired],
    ['  registered again', tally.reregistered],
    ['  lost with the history', tally.reacquired],
    ['  given back', tally.released],
    ['  lost for good', tally.lost],
    ['records replaced by a write to an earlier node', tally.overwritten],
    ['seconds without IDs', Math.round(tally.outageSeconds)],
    ['faults injected', sum(FAULTS.map((fault) => faults[fault]))],
    ...FAULTS.map((fault) => [`  ${fault}`, faults[fault]] as const),
    ['repeats under an assumption', sum(EXCUSES.map((excuse) => excused[excuse]))],
    ...EXCUSES.map((excuse) => [`  ${excuse}`, excused[excuse]] as const),
    ['worlds with segments', segments.worlds],
    ['  IDs checked', segments.ids],
    ['  servers started', segments.servers],
    ['  faults injected', sum(SEGMENT_FAULTS.map((fault) => segments.faults[fault]))],
    ...SEGMENT_FAULTS.map((fault) => [`    ${fault}`, segments.faults[fault]] as const),
    ['  repeats under an assumption', sum(SEGMENT_EXCUSES.map((excuse) => segments.excused[excuse]))],
    ...SEGMENT_EXCUSES.map((excuse) => [`    ${excuse}`, segments.excused[excuse]] as const),
  ];
  console.log(rows.map(([name, value]) => `${name.padEnd(WIDTH)}${grouped(value).padStart(15)}`).join('\n'));
  if (ms > 0) {
    console.log(`${'time'.padEnd(WIDTH)}${`${(ms / 1000).toFixed(1)} s`.padStart(15)}`);
    console.log(`${'worlds a second'.padEnd(WIDTH)}${((seeds * 1000) / ms).toFixed(1).padStart(15)}`);
  }
  console.log(failure === undefined ? 'No rule was broken.' : `FAILED: ${describeFailure(failure)}`);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function grouped(value: number): string {
  return value.toLocaleString('en-GB');
}
