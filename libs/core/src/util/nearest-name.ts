/** The name that a misspelled one most likely means, ignoring case; undefined if none is close. */
export function nearestName(misspelled: string, names: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(misspelled.length / 3));
  const close = names
    .map((name) => ({ name, edits: editDistance(misspelled.toLowerCase(), name.toLowerCase()) }))
    .filter(({ edits }) => edits <= limit);
  return close.sort((a, b) => a.edits - b.edits)[0]?.name;
}

/** The Damerau–Levenshtein distance: how many characters to insert, delete, replace or swap with the next one. */
function editDistance(from: string, to: string): number {
  let above: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let line = 1; line <= from.length; line++) {
    const next = [line];
    for (let index = 1; index <= to.length; index++) {
      const isSwap = from[line - 1] === to[index - 2] && from[line - 2] === to[index - 1];
      const { [index]: deleted = 0, [index - 1]: replaced = 0 } = row;
      const same = from[line - 1] === to[index - 1] ? 0 : 1;
      const swapped = isSwap ? (above[index - 2] ?? Infinity) : Infinity;
      next.push(Math.min(replaced + same, deleted + 1, (next[index - 1] ?? 0) + 1, swapped + 1));
    }
    [above, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
