import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { table } from '@leaf-ids/core/internal';
import type { ChaosOutcome } from '../chaos-run';
import { markdownOf, withTable } from './markdown';
import type { Summary } from './summary';
import { changesOf, percent, rowsOf } from './tables';
import { targetsOf } from './targets';
import { drawTimeline } from './timeline-svg';

const REPORT = 'report.json';
const DOCUMENT = 'test/long/chaos/README.md';

/** Where the reports and logs of a place and seed are, in the directory of this repository. */
export function folderOf(place: string, seed: number): string {
  const folder = join(process.cwd(), 'node_modules/.cache/leaf-chaos', place, String(seed));
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Writes what is kept of a run. */
export function writeReports(folder: string, summary: Summary, outcome: ChaosOutcome): void {
  const records = outcome.books.judge.records.map((record) => {
    const { kind, detail, holdMs } = record.plan;
    const { paired, beganAt, endedAt, recoveredAt, recoveryMs, starvedMs, lastTrouble } = record;
    return { kind, detail, holdMs, paired, beganAt, endedAt, recoveredAt, recoveryMs, starvedMs, lastTrouble };
  });
  writeFileSync(join(folder, REPORT), `${JSON.stringify({ ...summary, records }, undefined, 2)}\n`);
  writeFileSync(join(folder, 'timeline.svg'), drawTimeline(outcome, `${summary.place}, seed ${summary.seed}`));
  writeFileSync(join(folder, 'summary.md'), `${markdownOf(summary)}\n`);
}

/**
 * Puts the table of the newest run of a seed into the documentation; says which run that was.
 *
 * @throws Error when no run of this seed has been kept
 */
export function writeDocument(place: string, seed: number): string {
  const file = join(folderOf(place, seed), REPORT);
  if (!existsSync(file))
    throw new Error(`There is no report of seed ${seed} on ${place}. Run the same command without --write-docs first.`);
  const summary = JSON.parse(readFileSync(file, 'utf8')) as Summary;
  writeFileSync(DOCUMENT, withTable(readFileSync(DOCUMENT, 'utf8'), place, markdownOf(summary)));
  const { date, seconds, faults } = summary;
  return `${DOCUMENT} has the table of the run of ${date} on ${place} now: ${Math.round(seconds)} s, ${faults} faults.`;
}

/** The summary of a run for a terminal. */
export function describe(summary: Summary): string {
  const { faults, ids, calls, duplicates, descents, unexpected, segment, snowflake } = summary;
  const { failedStarts, impossible, stuck, late, slow, traces } = summary;
  const [header = [], ...rows] = rowsOf(summary);
  return [
    table(header, rows).join('\n'),
    '',
    `${faults} faults, ${calls} calls, ${ids} IDs; ${failedStarts} starts failed and were repeated`,
    `tags: ${changesOf(summary)}`,
    `${duplicates.length} duplicates, ${descents.length} out of order, ${unexpected.length} unexpected refusals`,
    `traces of the steps of the servers: ${traces.accepted} accepted, ${traces.refused.length} refused`,
    `answered: segment ${percent(segment)} (outages that outlast the buffers left out), snowflake ${percent(snowflake)}`,
    ...targetsOf(summary),
    ...(impossible.length > 0 ? [`Not possible on this machine: ${impossible.join(', ')}`] : []),
    ...[...duplicates, ...descents, ...unexpected].map((problem) => JSON.stringify(problem)),
    ...traces.refused,
    ...(stuck === undefined ? [] : [stuck]),
    ...late.map((caller) => `In the calm part, ${caller}`),
    ...slow,
  ].join('\n');
}
