import { table } from '@leaf-ids/core/internal';
import { whole } from '../../support/whole';
import type { EnduranceOutcome } from './endurance-run';
import type { Course } from './flatness';
import type { Sample } from './subject/sample';

const KIB = 1024;

const NAMES: Readonly<Record<keyof Sample, string>> = {
  heapBytes: 'heap, KiB',
  residentBytes: 'resident, KiB',
  descriptors: 'descriptors',
  handles: 'handles',
  timers: 'timers',
  emitters: 'event emitters',
  listeners: 'listeners',
  promises: 'promises',
  children: 'child processes',
  childDescriptors: '… their descriptors',
  childResidentBytes: '… resident, KiB',
};

/** A table for a terminal: figures down, processes across. */
export function describe(outcome: EnduranceOutcome): string {
  const [header = [], ...rows] = tableOf(outcome);
  const growing = outcome.courses.filter(({ flat }) => !flat);
  const verdict = growing.map(({ process, figure }) => `${process}: ${NAMES[figure]}`).join('; ');
  return [
    table(header, rows).join('\n'),
    '',
    totalsOf(outcome),
    growing.length === 0 ? 'Flat.' : `GROWING: ${verdict}`,
  ].join('\n');
}

/** The same for test/long/endurance/README.md. */
export function markdownOf(outcome: EnduranceOutcome): string {
  const [header = [], ...rows] = tableOf(outcome);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    `${totalsOf(outcome)}.`,
    '',
    line(header),
    line(header.map((_, column) => (column === 0 ? '---' : '---:'))),
    ...rows.map(line),
  ].join('\n');
}

function tableOf({ courses }: EnduranceOutcome): string[][] {
  const processes = [...new Set(courses.map(({ process }) => process))];
  const figures = [...new Set(courses.map(({ figure }) => figure))];
  const rows = figures.map((figure) => [
    NAMES[figure],
    ...processes.map((name) => cell(courses.find((course) => course.figure === figure && course.process === name)!)),
  ]);
  return [['median of the first third → of the last', ...processes], ...rows];
}

function totalsOf({ rounds, durationMs, switches, snowflakeBatches, clientCalls, refused }: EnduranceOutcome): string {
  return (
    `${rounds} rounds in ${(durationMs / 60_000).toFixed(1)} minutes, ${whole(switches)} segments, ` +
    `${whole(snowflakeBatches)} batches of snowflake IDs, ${whole(clientCalls)} calls of the client, ` +
    `${whole(refused)} refused or cut off`
  );
}

function cell({ figure, first, last, flat }: Course): string {
  const show = (value: number): string => whole(figure.endsWith('Bytes') ? value / KIB : value);
  return `${show(first)} → ${show(last)}${flat ? '' : ' !'}`;
}
