import type { DatabaseReport } from '@leaf-ids/persistence';

/** Formats a report for a terminal: two tables, then the problems to fix. */
export function reportText({ ok, databases, tags, problems }: DatabaseReport): string {
  const places = databases.map(({ name, state, tags: rows, deleted, database }) => {
    return [name, state, String(rows), String(deleted), database];
  });
  const rows = tags.map(({ tag, database, owner, maxId, state }) => [tag, database, owner, maxId, state]);
  const verdict = ok ? ['Every tag is in the correct database.'] : problems.map((problem) => `- ${problem}`);
  return [
    ...table(['DATABASE', 'STATE', 'TAGS', 'DELETED', 'URL'], places),
    '',
    ...(rows.length === 0 ? [] : [...table(['TAG', 'IN', 'BELONGS TO', 'NEXT ID', 'STATE'], rows), '']),
    ...verdict,
  ].join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
