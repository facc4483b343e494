import { percent, rowsOf } from './tables';
import type { Summary } from './summary';

const BEGIN = '<!-- chaos run: begin -->';
const END = '<!-- chaos run: end -->';

/** The summary of a run for docs/reliability.md. */
export function markdownOf(summary: Summary): string {
  const { seed, date, seconds, faults, ids, calls, duplicates, descents, unexpected, segment, snowflake } = summary;
  const [header = [], ...rows] = rowsOf(summary);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    `Seed ${seed}, ${date.slice(0, 10)}: ${Math.round(seconds / 60)} minutes, **${faults} faults, ${grouped(calls)} calls, ${grouped(ids)} IDs: ` +
      `${duplicates.length} duplicates, ${descents.length} out of order, ${unexpected.length} unexpected refusals.** ` +
      `Of the calls of clients ${percent(segment)} in segment mode (outages that outlast the buffers left out) and ` +
      `${percent(snowflake)} in snowflake mode were answered.`,
    '',
    line(header),
    line(header.map((_, column) => (column === 0 || column === header.length - 1 ? '---' : '---:'))),
    ...rows.map((cells) => line(cells.map((cell, column) => (column === cells.length - 1 ? code(cell) : cell)))),
  ].join('\n');
}

/** `document` with the table between its two marks replaced. */
export function withTable(document: string, table: string): string {
  const [begin, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`The document has no ${BEGIN} … ${END}`);
  return `${document.slice(0, begin + BEGIN.length)}\n\n${table}\n\n${document.slice(end)}`;
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
