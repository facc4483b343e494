import type { HistogramSnapshot } from '@leaf-ids/core';

type Labels = Readonly<Record<string, string | number>>;

/** One line of a metric. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

export interface HistogramSample {
  readonly labels: Labels;
  /** Of milliseconds. */
  readonly times: HistogramSnapshot;
}

interface MetricEntry {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Several processes of a server tell of the same thing: the value to take, in place of one for each. */
  readonly shared?: 'least' | 'most';
}

/** One row of a table of metrics, read from `Source` at each scrape. */
export type Metric<Source> = MetricEntry &
  (
    | {
        /** A counter never falls. */
        readonly type: 'counter' | 'gauge';
        /** Undefined: nothing to tell now. */
        readonly read: (source: Source) => number | undefined | readonly Sample[];
      }
    | {
        /** In seconds, as is the custom. */
        readonly type: 'histogram';
        readonly read: (source: Source) => readonly HistogramSample[];
      }
  );

/** As the registry of prom-client takes it, and gives it. */
export interface Line extends Sample {
  readonly metricName?: string;
}

/** A metric with all of its lines. */
export interface MetricReading {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly Line[];
}

/** A `Registry` of prom-client; named here, so that types need no package that may be missing. */
export interface MetricsRegistry {
  registerMetric(metric: never): void;
  metrics(): Promise<string>;
}

/**
 * Adds a table of metrics to a registry of prom-client. A scrape reads all of them at one moment, and the source once.
 *
 * @param read the source, as it is now
 * @param prefix begins every name in place of `leaf_`
 */
export function addMetrics<Source>(
  registry: MetricsRegistry,
  metrics: readonly Metric<Source>[],
  read: () => Source,
  prefix = 'leaf_',
): void {
  const source = oncePerScrape(read);
  for (const metric of metrics) {
    const name = metric.name.replace(/^leaf_/, prefix);
    addReading(registry, name, metric, () => linesOf(name, metric, source()));
  }
}

/** The classes of prom-client count by themselves; its registry needs no more than this of them. */
export function addReading(
  registry: MetricsRegistry,
  name: string,
  { help, type }: Pick<MetricReading, 'help' | 'type'>,
  read: () => readonly Line[],
): void {
  const get = (): Promise<MetricReading & { aggregator: string }> =>
    Promise.resolve({ name, help, type, aggregator: 'sum', values: read() });
  // What it tells is counted elsewhere: there is nothing to reset.
  registry.registerMetric({ name, help, type, aggregator: 'sum', get, reset: () => undefined } as never);
}

/** A registry asks all of its metrics before anything else happens. */
function oncePerScrape<Source>(read: () => Source): () => Source {
  let current: { readonly source: Source } | undefined;
  return () => {
    if (current === undefined) {
      current = { source: read() };
      queueMicrotask(() => (current = undefined));
    }
    return current.source;
  };
}

function linesOf<Source>(name: string, metric: Metric<Source>, source: Source): readonly Line[] {
  if (metric.type === 'histogram') return metric.read(source).flatMap((sample) => bucketLines(name, sample));
  const samples = metric.read(source);
  if (samples === undefined) return [];
  return typeof samples === 'number' ? [{ labels: {}, value: samples }] : samples;
}

function bucketLines(name: string, { labels, times: { buckets, count, sum } }: HistogramSample): Line[] {
  const metricName = `${name}_bucket`;
  return [
    ...buckets.map(({ bound, count: value }) => ({ metricName, labels: { ...labels, le: bound / 1000 }, value })),
    { metricName, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels, value: sum / 1000 },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
