import type { Counter, Gauge, Registry } from 'prom-client';
import type { SegmentService } from '@leaf/segment';
import type { SnowflakeService } from '@leaf/snowflake';
import type { EmbeddedIdService } from '../embedded-id-service';

/** A `Registry` of prom-client; named here, so that types need no package that may be missing. */
export interface MetricsRegistry {
  registerMetric(metric: never): void;
  metrics(): Promise<string>;
}

export interface LeafMetricsOptions {
  /** Begins every name, for a second Leaf in one process; `leaf_` by default. */
  readonly prefix?: string;
}

/**
 * Adds the figures of Leaf to a registry of prom-client. They are gathered when they are asked for; taking IDs pays
 * nothing.
 *
 * @example await registerLeafMetrics(register, app.get(EmbeddedIdService));
 */
export async function registerLeafMetrics(
  registry: MetricsRegistry,
  { segmentService, snowflakeService }: EmbeddedIdService,
  { prefix = 'leaf_' }: LeafMetricsOptions = {},
): Promise<void> {
  const metrics = new PulledMetrics(await import('prom-client'), registry as Registry, prefix);
  if (segmentService !== undefined) addSegments(metrics, segmentService);
  if (snowflakeService !== undefined) addSnowflake(metrics, snowflakeService);
}

function addSegments(metrics: PulledMetrics, segments: SegmentService): void {
  const sum = (figure: 'issued' | 'buffered' | 'loads' | 'failures' | 'backwards'): number =>
    segments.snapshot().reduce((total, tag) => total + tag[figure], 0);
  metrics.gauge('segment_tags', 'Tags known', () => segments.snapshot().length);
  metrics.gauge('segment_buffered_ids', 'Segment IDs at hand without asking the store', () => sum('buffered'));
  metrics.counter('segment_ids_total', 'Segment IDs issued', () => sum('issued'));
  metrics.counter('segment_loads_total', 'Segments loaded from the store', () => sum('loads'));
  metrics.counter('segment_load_failures_total', 'Allocations that failed', () => sum('failures'));
  metrics.counter('segment_store_backwards_total', 'Ranges refused that were taken already', () => sum('backwards'));
}

function addSnowflake(metrics: PulledMetrics, snowflake: SnowflakeService): void {
  const now = (): ReturnType<SnowflakeService['snapshot']> => snowflake.snapshot();
  metrics.gauge('worker_id', 'Worker ID of this process', () => now().lease.workerId ?? NaN);
  metrics.gauge('snowflake_refused', '1 while no snowflake ID is given', () =>
    Number(snowflake.refusal() !== undefined),
  );
  metrics.counter('snowflake_ids_total', 'Snowflake IDs issued', () => now().generator.issued);
  metrics.counter(
    'clock_backwards_total',
    'Clock steps backwards, absorbed ones included',
    () => now().generator.backwardsSteps,
  );
  metrics.counter(
    'lease_report_failures_total',
    'Reports to the worker registry that failed',
    () => now().lease.report.failures,
  );
}

/** Metrics that are counted elsewhere and read when they are asked for. */
class PulledMetrics {
  constructor(
    private readonly prom: { readonly Counter: typeof Counter; readonly Gauge: typeof Gauge },
    private readonly registry: Registry,
    private readonly prefix: string,
  ) {}

  gauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new this.prom.Gauge({
      name: this.prefix + name,
      help,
      registers: [this.registry],
      collect: () => gauge.set(read()),
    });
  }

  counter(name: string, help: string, read: () => number): void {
    const counter: Counter = new this.prom.Counter({
      name: this.prefix + name,
      help,
      registers: [this.registry],
      collect: () => {
        counter.reset();
        counter.inc(read());
      },
    });
  }
}
