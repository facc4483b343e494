import type { EmbeddedIdService } from '../runtime/embedded-id-service';
import { metricsOf } from './leaf-metrics';
import { addMetrics, type MetricsRegistry } from './metric-set';
import { TagSeries } from './tag-series';

export interface LeafMetricsOptions {
  /** Replaces the prefix `leaf_` of every name, for a second Leaf in one process. */
  readonly prefix?: string;
}

/**
 * Adds the metrics of docs/metrics.md to a registry of prom-client. They are read at each scrape, and add no cost to
 * the issue of IDs.
 *
 * @example await registerLeafMetrics(register, app.get(EmbeddedIdService));
 */
export function registerLeafMetrics(
  registry: MetricsRegistry,
  ids: EmbeddedIdService,
  { prefix }: LeafMetricsOptions = {},
): Promise<void> {
  const tags = ids.segmentService && new TagSeries(ids.segmentService.generator);
  addMetrics(registry, metricsOf(ids.status()), () => ({ status: ids.status(), tags: tags?.read() }), prefix);
  return Promise.resolve();
}
