import { EXCUSES } from './excuses';
import { FAULTS } from './faults';
import { describeFailure } from './seeds';
import type { Totals } from './totals';

/** The result of a run as text. */
export function report({ seeds, steps, tally, faults, excused, strategies, failure }: Totals, ms: number): void {
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
    ['seconds without IDs', Math.round(tally.outageSeconds)],
    ['faults injected', FAULTS.reduce((sum, fault) => sum + faults[fault], 0)],
    ...FAULTS.map((fault) => [`  ${fault}`, faults[fault]] as const),
    ['repeats under an assumption', EXCUSES.reduce((sum, excuse) => sum + excused[excuse], 0)],
    ...EXCUSES.map((excuse) => [`  ${excuse}`, excused[excuse]] as const),
  ];
  console.log(rows.map(([name, value]) => `${name.padEnd(54)}${grouped(value).padStart(15)}`).join('\n'));
  if (ms > 0) console.log(`${'time'.padEnd(54)}${`${(ms / 1000).toFixed(1)} s`.padStart(15)}`);
  console.log(failure === undefined ? 'No rule was broken.' : `FAILED: ${describeFailure(failure)}`);
}

function grouped(value: number): string {
  return value.toLocaleString('en-GB');
}
