import { table, visible } from '@leaf-ids/core/internal';
import type { DatabaseReport } from './check-databases';
import type { TagMoveReport } from './move-tags';
import type { MovedTag, RemovalReport } from './remove-database';
import type { RestoreReport } from './restore-database';

/** Formats a report for a terminal: two tables, then the problems to fix. */
export function reportText({ ok, databases, tags, problems }: DatabaseReport): string {
  const places = databases.map(({ name, state, tags: rows, deleted, database }) => {
    return [name, state, String(rows), String(deleted), database];
  });
  const rows = tags.map(({ tag, database, owner, maxId, state }) => [tag, database, owner, maxId, state]);
  const verdict = ok ? ['Every tag is in the correct database.'] : problems.map((problem) => `- ${visible(problem)}`);
  return [
    ...table(['DATABASE', 'STATE', 'TAGS', 'DELETED', 'URL'], places),
    '',
    ...(rows.length === 0 ? [] : [...table(['TAG', 'IN', 'BELONGS TO', 'NEXT ID', 'STATE'], rows), '']),
    ...verdict,
  ].join('\n');
}

/** Formats a report for a terminal: a table of the tags, then what is left to do. */
export function removalText({ database, dryRun, remaining, tags, assigned }: RemovalReport): string {
  return [
    ...movedText(tags, dryRun),
    `${database}: ${tags.length} tags ${dryRun ? 'would be moved' : 'were moved'}.`,
    `${dryRun ? 'After the command, restart' : 'Restart'} the servers with ${remaining.join(', ')} in the option segment.database.shards. Until then, they refuse the tags above.`,
    ...(assigned.length === 0 ? [] : [`Remove ${assigned.join(', ')} from the option segment.database.shards.tags.`]),
  ].join('\n');
}

/** As {@link removalText}, for tags that were moved to the databases that own them. */
export function moveText({ dryRun, tags }: TagMoveReport): string {
  if (tags.length === 0) return 'Nothing to move: no tag was found in a database that does not own it.';
  return [
    ...movedText(tags, dryRun),
    `${tags.length} tags ${dryRun ? 'would be moved' : 'were moved'}. Servers with other settings refuse moved tags until they are restarted with these.`,
  ].join('\n');
}

function movedText(tags: readonly MovedTag[], dryRun: boolean): string[] {
  const cells = tags.map(({ tag, from, to, rows }) => [tag, from, to, String(rows)]);
  return [
    ...(tags.length === 0 ? [] : [...table(['TAG', 'FROM', 'TO', 'ROWS'], cells), '']),
    ...(dryRun ? ['Dry run: nothing was changed.'] : []),
  ];
}

/** Formats a report for a terminal: a table of the rows, then what is left to do. */
export function restoreText({ database, dryRun, gap, rows, deleted, registry }: RestoreReport): string {
  const used = rows.filter(({ state }) => state === 'used up').map(({ row }) => row);
  const cells = rows.map(({ row, before, after, max = '-', state }) => [row, before, after, max, state]);
  return [
    ...(rows.length === 0 ? [] : [...table(['ROW', 'BACKUP', 'NEXT ID', 'MAX', 'STATE'], cells), '']),
    ...(dryRun ? ['Dry run: nothing was changed.'] : []),
    `${database}: ${rows.length} rows and ${deleted} records of deleted tags ${dryRun ? 'would be' : 'were'} moved by at least ${gap} IDs.`,
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
