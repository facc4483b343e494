import { table } from '@leaf-ids/core/internal';
import type { TagMoveReport } from './move-tags';
import type { MovedTag, RemovalReport } from './remove-database';

/** Formats a report for a terminal: a table of the tags, then what is left to do. */
export function removalText({ database, dryRun, remaining, tags, assigned }: RemovalReport): string {
  return [
    ...movedText(tags, dryRun),
    `${database}: moved ${tags.length} tags.`,
    `Restart the servers with ${remaining.join(', ')} in the option segment.database.shards. Until then, they refuse the tags above.`,
    ...(assigned.length === 0 ? [] : [`Remove ${assigned.join(', ')} from the option segment.database.shards.tags.`]),
  ].join('\n');
}

/** As {@link removalText}, for tags that were moved to the databases that own them. */
export function moveText({ dryRun, tags }: TagMoveReport): string {
  if (tags.length === 0) return 'Nothing to move: no tag was found in a database that does not own it.';
  return [
    ...movedText(tags, dryRun),
    `Moved ${tags.length} tags. Servers with other settings refuse them until they are restarted with these.`,
  ].join('\n');
}

function movedText(tags: readonly MovedTag[], dryRun: boolean): string[] {
  const cells = tags.map(({ tag, from, to, rows }) => [tag, from, to, String(rows)]);
  return [
    ...(tags.length === 0 ? [] : [...table(['TAG', 'FROM', 'TO', 'ROWS'], cells), '']),
    ...(dryRun ? ['Dry run: nothing was changed.'] : []),
  ];
}
