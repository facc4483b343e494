import { parser } from '@prometheus-io/lezer-promql';
import type { Family } from './exposition';

/** What an expression asks for. */
export interface PromqlReading {
  /** The places that are no PromQL, as they are written. */
  readonly faults: readonly string[];
  readonly metrics: readonly string[];
  /** Labels that it selects or groups by. */
  readonly labels: readonly string[];
}

/** Reads an expression as Prometheus does; `$__rate_interval` and the like, which Grafana replaces, count as a duration. */
export function readPromql(expression: string): PromqlReading {
  const text = expression.replaceAll(/\$__\w+/g, '5m');
  const faults: string[] = [];
  const metrics = new Set<string>();
  const labels = new Set<string>();
  parser.parse(text).iterate({
    enter: ({ name, type, from, to, node }) => {
      const written = text.slice(from, to);
      if (type.isError) faults.push(text.slice(Math.max(0, from - 20), to + 20));
      if (name === 'LabelName') labels.add(written);
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') metrics.add(written);
    },
  });
  return { faults, metrics: [...metrics], labels: [...labels] };
}

/** The names that can be asked for, with the labels seen on them; of a histogram those of its parts. */
export function exposedSeries(families: ReadonlyMap<string, Family>): Map<string, Set<string>> {
  const series = new Map<string, Set<string>>();
  for (const { name, kind, samples } of families.values()) {
    const suffixes = { histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] }[kind] ?? [''];
    for (const suffix of suffixes) series.set(name + suffix, new Set());
    for (const sample of samples) for (const label of Object.keys(sample.labels)) series.get(sample.name)?.add(label);
  }
  return series;
}
