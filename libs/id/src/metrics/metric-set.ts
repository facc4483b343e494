import type { HistogramSnapshot } from '@leaf-ids/core';

type Labels = Readonly<Record<string, string | number>>;

/** One line of a metric. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

export interface HistogramSample {
  readonly labels: Labels;
  /** Histogram of durations, in milliseconds. */
  readonly times: HistogramSnapshot;
}

interface MetricEntry {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** All processes of a server report the same value: which one to use instead of one per process. */
  readonly shared?: 'least' | 'most';
}

/** One row of a table of metrics, read from `Source` at each scrape. */
export type Metric<Source> = MetricEntry &
  (
    | {
        /** A counter never decreases. */
        readonly type: 'counter' | 'gauge';
        /** Undefined: no sample. */
        readonly read: (source: Source) => number | undefined | readonly Sample[];
      }
    | {
        /** Exposed in seconds. */
        readonly type: 'histogram';
        readonly read: (source: Source) => readonly HistogramSample[];
      }
  );

/** A line in the format of prom-client. */
export interface Line extends Sample {
  readonly metricName?: string;
}

/** A metric with all its lines. */
export interface MetricReading {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly Line[];
}

/** The parts of prom-client's `Registry` that Leaf uses; declared here because the package is optional. */
export interface MetricsRegistry {
  registerMetric(metric: never): void;
  metrics(): Promise<string>;
}

/**
 * Adds a table of metrics to a registry of prom-client. `Registry.metrics()` reads the source once, so that its metrics
 * are consistent.
 *
 * @param read returns the current source
 * @param prefix replaces the prefix `leaf_` of every name
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

/** Adds a metric that is read at each scrape, unlike the classes of prom-client, which store values themselves. */
export function addReading(
  registry: MetricsRegistry,
  name: string,
  { help, type }: Pick<MetricReading, 'help' | 'type'>,
  read: () => readonly Line[],
): void {
  const get = (): Promise<MetricReading & { aggregator: string }> =>
    Promise.resolve({ name, help, type, aggregator: 'sum', values: read() });
  // The values are stored elsewhere: there is nothing to reset.
  registry.registerMetric({ name, help, type, aggregator: 'sum', get, reset: () => undefined } as never);
}

/** `Registry.metrics()` reads all metrics in one synchronous turn, so the cached source is valid until the next microtask. */
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
