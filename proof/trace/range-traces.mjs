// Divides the ranges of step logs into traces, one for each tag, for RangeTrace.tla.

/** @param lines in order @returns traces: `{ name, model, lines }` */
export function rangeTraces(lines) {
  const traces = new Map();
  for (const line of lines) {
    if (line.kind !== 'take' && line.kind !== 'return') continue;
    const name = `tag ${line.tag}`;
    if (!traces.has(name)) traces.set(name, { name, lines: [] });
    traces.get(name).lines.push(line);
  }
  return [...traces.values()].map(({ name, lines: own }) => ({ name, lines: own, model: { steps: stepsOf(own) } }));
}

/**
 * TLC counts to 2^31, so each bound of a range is replaced by its number in the order of all bounds: ranges meet, adjoin
 * and contain each other as before.
 */
function stepsOf(lines) {
  const ranges = lines.map(({ kind, from, to }) => ({ kind, from: BigInt(from), end: BigInt(to) + 1n }));
  const bounds = [...new Set(ranges.flatMap(({ from, end }) => [from, end]))].sort((a, b) => (a < b ? -1 : 1));
  const numbers = new Map(bounds.map((bound, index) => [bound, index]));
  return ranges.map(({ kind, from, end }) => ({ kind, from: numbers.get(from), to: numbers.get(end) - 1 }));
}
