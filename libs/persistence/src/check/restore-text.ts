import { table } from '@leaf-ids/core/internal';
import type { RestoreReport } from './restore-database';

/** Formats a report for a terminal: a table of the rows, then what is left to do. */
export function restoreText({ database, dryRun, gap, rows, deleted, registry }: RestoreReport): string {
  const used = rows.filter(({ state }) => state === 'used up').map(({ row }) => row);
  const cells = rows.map(({ row, before, after, max = '-', state }) => [row, before, after, max, state]);
  return [
    ...(rows.length === 0 ? [] : [...table(['ROW', 'BACKUP', 'NEXT ID', 'MAX', 'STATE'], cells), '']),
    ...(dryRun ? ['Dry run: nothing was changed.'] : []),
    `${database}: moved ${rows.length} rows and ${deleted} records of deleted tags by at least ${gap} IDs.`,
    ...(registry
      ? ['Its worker registry has lost its history: servers wait up to 15 s once before they assign IDs.']
      : []),
    ...(used.length === 0
      ? []
      : [
          `Used up: ${used.join(', ')}. Raise max of the tag; or, if you know the highest ID that was issued, load the backup again and run this command with --issued <tag>=<id>.`,
        ]),
  ].join('\n');
}
