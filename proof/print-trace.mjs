/** Prints the way to a violation: one line for each step, with its action and the variables that it changed. */
export function printTrace(trace) {
  let before = new Map();
  trace.forEach(({ action, values }, step) => {
    const now = new Map([...values].flatMap(([name, text]) => [...leavesOf(name, parse(text))]));
    const changes = [...now].filter(([path, value]) => before.get(path) !== value);
    const shown = changes.filter(([path]) => !(step === 0 ? isPlain(path, now) : isOfStopped(path, now)));
    const text = shown.map((each) => each.join(' = ')).join('; ');
    console.log(`  ${String(step).padStart(2)} ${action.padEnd(14)} ${text}`);
    before = now;
  });
}

/** The memory of a process that has stopped; its step `op` says so. */
function isOfStopped(path, values) {
  const process = /^p\.\w+\./.exec(path)?.[0];
  return process !== undefined && path !== `${process}op` && values.get(`${process}op`) === '"down"';
}

/** In the first state, what is empty or 0 is left out. */
function isPlain(path, values) {
  const value = values.get(path) ?? '';
  return ['{}', '<<>>', 'FALSE', '[absent |-> TRUE]', '"down"'].includes(value) || !/[1-9"]/.test(value);
}

/** The parts of a value by their paths: records and functions are taken apart, at most two levels deep. */
function* leavesOf(path, value, depth = 0) {
  if (value.fields === undefined || depth === 2) yield [path, value.text];
  else for (const [name, each] of value.fields) yield* leavesOf(`${path}.${name}`, each, depth + 1);
}

/** Reads a value as TLC prints it. Only records and functions have `fields`. */
function parse(text) {
  const inner = text.slice(1, -1).trim();
  if (text.startsWith('[') && text !== '[absent |-> TRUE]') return { text, fields: pairsOf(inner, ',', '|->') };
  if (text.startsWith('(') && inner.includes(':>')) return { text, fields: pairsOf(inner, '@@', ':>') };
  if (text.startsWith('<<') && text.length > 4) {
    const items = split(text.slice(2, -2).trim(), ',');
    return { text, fields: items.map((item, index) => [`${index + 1}`, parse(item)]) };
  }
  return { text };
}

function pairsOf(inner, between, arrow) {
  return split(inner, between).map((each) => {
    const at = each.indexOf(arrow);
    return [each.slice(0, at).trim(), parse(each.slice(at + arrow.length).trim())];
  });
}

/** Splits at a separator that is not within brackets. */
function split(text, separator) {
  const parts = [];
  let [depth, from] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    if ('[({'.includes(text[at]) || text.startsWith('<<', at)) depth++;
    else if ('])}'.includes(text[at]) || text.startsWith('>>', at)) depth--;
    else if (depth === 0 && text.startsWith(separator, at)) {
      parts.push(text.slice(from, at).trim());
      from = at + separator.length;
    }
    if (text.startsWith('<<', at) || text.startsWith('>>', at)) at++;
  }
  return [...parts, text.slice(from).trim()];
}
