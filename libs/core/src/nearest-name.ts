/** The name that a misspelled one most likely means, ignoring case; undefined if none is close. */
export function nearestName(misspelled: string, names: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(misspelled.length / 3));
  const close = names
    .map((name) => ({ name, edits: editDistance(misspelled.toLowerCase(), name.toLowerCase()) }))
    .filter(({ edits }) => edits <= limit);
  return close.sort((a, b) => a.edits - b.edits)[0]?.name;
}

/** The Levenshtein distance: how many characters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, removed] of Array.from(from).entries()) {
    const next = [line + 1];
    for (const [index, added] of Array.from(to).entries()) {
      const [diagonal = 0, above = 0, left = 0] = [row[index], row[index + 1], next[index]];
      next.push(Math.min(diagonal + (removed === added ? 0 : 1), above + 1, left + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
