import { table, visible } from '@leaf-ids/core/internal';
import type { DatabaseReport } from './database-report';

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
