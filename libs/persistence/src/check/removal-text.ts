import { table } from '@leaf-ids/core/internal';
import type { RemovalReport } from './remove-database';

/** Formats a report for a terminal: a table of the tags, then what is left to do. */
export function removalText({ database, dryRun, remaining, tags, assigned }: RemovalReport): string {
  const cells = tags.map(({ tag, to, rows }) => [tag, to, String(rows)]);
  return [
    ...(tags.length === 0 ? [] : [...table(['TAG', 'TO', 'ROWS'], cells), '']),
    ...(dryRun ? ['Dry run: nothing was changed.'] : []),
    `${database}: moved ${tags.length} tags.`,
    `Restart the servers with ${remaining.join(', ')} in the option segment.database.shards. Until then, they refuse the tags above.`,
    ...(assigned.length === 0 ? [] : [`Remove ${assigned.join(', ')} from the option segment.database.shards.tags.`]),
  ].join('\n');
}
