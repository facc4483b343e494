import type { Summary } from './summary';
import { changesOf, percent, rowsOf } from './tables';

/** The summary of a run for test/long/chaos/README.md. */
export function markdownOf(summary: Summary): string {
  const { seed, date, seconds, faults, ids, calls, duplicates, descents, unexpected, segment, snowflake } = summary;
  const [header = [], ...rows] = rowsOf(summary);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    `Seed ${seed}, ${date.slice(0, 10)}: ${Math.round(seconds / 60)} minutes, **${faults} faults, ${grouped(calls)} calls, ${grouped(ids)} IDs: ` +
      `${duplicates.length} duplicates, ${descents.length} out of order, ${unexpected.length} unexpected refusals.** ` +
      `Of the calls of clients ${percent(segment)} in segment mode (outages that outlast the buffers left out) and ` +
      `${percent(snowflake)} in snowflake mode were answered. Changes of tags meanwhile: ${changesOf(summary)}.`,
    '',
    line(header),
    line(header.map((_, column) => (column === 0 || column === header.length - 1 ? '---' : '---:'))),
    ...rows.map((cells) => line(cells.map((cell, column) => (column === cells.length - 1 ? code(cell) : cell)))),
  ].join('\n');
}

/** `document` with the table between the two marks of the place replaced. */
export function withTable(document: string, place: string, table: string): string {
  const [opening, closing] = [`<!-- chaos run on ${place}: begin -->`, `<!-- chaos run on ${place}: end -->`];
  const [begin, end] = [document.indexOf(opening), document.indexOf(closing)];
  if (begin < 0 || end < begin) throw new Error(`The document has no ${opening} … ${closing}`);
  return `${document.slice(0, begin + opening.length)}\n\n${table}\n\n${document.slice(end)}`;
}

function code(codes: string): string {
  return codes
    .split(' ')
    .filter((name) => name !== '')
    .map((name) => `\`${name}\``)
    .join(' ');
}

function grouped(value: number | string): string {
  return BigInt(value).toLocaleString('en-GB');
}
