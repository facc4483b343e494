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

function stepsOf(lines) {
  const lowest = lines.map(({ from }) => BigInt(from)).reduce((least, from) => (from < least ? from : least));
  const rebase = (id) => Number(BigInt(id) - lowest);
  return lines.map(({ kind, from, to }) => ({ kind, from: rebase(from), to: rebase(to) }));
}
