/** One family of a scrape. */
export interface Family {
  readonly name: string;
  readonly kind: string;
  readonly samples: Sample[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = '([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\\\\n]|\\\\[\\\\n"])*)"';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{((?:${LABEL},)*${LABEL})\\})? (\\S+)$`);
/** Number syntax of Prometheus; special values in any case. */
const VALUE = /^([nN]a[nN]|[+-]Inf|-?\d+(\.\d+)?(e[+-]?\d+)?)$/;
const KINDS = ['counter', 'gauge', 'histogram', 'summary'];

/**
 * Parses the text format of Prometheus, version 0.0.4, and validates it: HELP and TYPE come first and once, the samples
 * of a family are adjacent and unique, names and escapes are valid, counters end in `_total` and are not negative, and
 * buckets ascend to `+Inf`, which equals the count.
 *
 * @throws Error that says what is wrong
 */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('The last line has no end.');
  const families = new Map<string, Family>();
  let help: string | undefined;
  let family: Family | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    const [, mark, name = '', rest = ''] = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line) ?? [];
    if (mark === 'HELP') {
      if (families.has(name)) throw new Error(`A second HELP: ${line}`);
      help = name;
      family = undefined;
    } else if (mark === 'TYPE') {
      if (help !== name || family !== undefined) throw new Error(`TYPE without its HELP before: ${line}`);
      if (!KINDS.includes(rest)) throw new Error(`No such kind: ${line}`);
      family = { name, kind: rest, samples: [] };
      families.set(name, family);
    } else {
      if (family === undefined) throw new Error(`A sample without TYPE: ${line}`);
      family.samples.push(parseSample(line, family));
    }
  }
  for (const each of families.values()) check(each);
  return families;
}

function parseSample(line: string, { name, kind }: Family): Sample {
  const found = SAMPLE.exec(line);
  if (found === null) throw new Error(`No sample: ${line}`);
  const value = found.at(-1) ?? '';
  if (!VALUE.test(value)) throw new Error(`No value: ${line}`);
  const allowed =
    kind === 'histogram' ? ['_bucket', '_sum', '_count'] : kind === 'summary' ? ['', '_sum', '_count'] : [''];
  if (!allowed.some((suffix) => found[1] === name + suffix)) throw new Error(`Not of the family ${name}: ${line}`);
  const labels: Record<string, string> = {};
  for (const [, label = '', text = ''] of (found[2] ?? '').matchAll(new RegExp(LABEL, 'g'))) {
    if (label in labels) throw new Error(`A label twice: ${line}`);
    labels[label] = text.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  return { name: found[1] ?? '', labels, value: Number(value.replace('Inf', 'Infinity')) };
}

function check({ name, kind, samples }: Family): void {
  const seen = samples.map((sample) => JSON.stringify([sample.name, Object.entries(sample.labels).sort()]));
  if (new Set(seen).size < seen.length) throw new Error(`${name} has a sample twice.`);
  if ((kind === 'counter') !== name.endsWith('_total')) throw new Error(`${name} is a ${kind}, and not called so.`);
  if (kind === 'counter' && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name} is below 0.`);
  if (kind === 'histogram') checkBuckets(name, samples);
}

function checkBuckets(name: string, samples: readonly Sample[]): void {
  const series = new Map<string, Sample[]>();
  for (const sample of samples) {
    const key = JSON.stringify(Object.entries(sample.labels).filter(([name]) => name !== 'le'));
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  for (const [key, each] of series) {
    const buckets = each.filter((sample) => sample.name.endsWith('_bucket'));
    const bounds = buckets.map(({ labels }) => Number((labels['le'] ?? 'none').replace('Inf', 'Infinity')));
    const counts = buckets.map(({ value }) => value);
    const count = each.find((sample) => sample.name.endsWith('_count'))?.value;
    const ascending = bounds.every((bound, i) => i === 0 || bound > (bounds[i - 1] ?? NaN));
    const cumulative = counts.every((value, i) => i === 0 || value >= (counts[i - 1] ?? NaN));
    const summed = each.some((sample) => sample.name.endsWith('_sum') && sample.value >= 0);
    if (!ascending || !cumulative || !summed || bounds.at(-1) !== Infinity || counts.at(-1) !== count) {
      throw new Error(`The buckets of ${name} ${key} do not add up: ${JSON.stringify(each)}`);
    }
  }
}
