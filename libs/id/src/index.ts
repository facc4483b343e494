export { IdService, LeafError, WorkerRegistry } from '@leaf-ids/core';
export { SegmentService } from '@leaf-ids/segment';
export { SnowflakeService } from '@leaf-ids/snowflake';
export { DatabaseProbe } from './database-probe';
export { EmbeddedIdService } from './embedded-id-service';
export { type Health as LeafModeHealth, type HealthStatus as LeafHealthStatus, worstOf } from './health';
export { IdModule } from './id.module';
export type { IdModuleExtras, IdModuleFactoryOptions, IdModuleOptions, NamedDataSource } from './id.module-definition';
export { Leaf, type LeafStores } from './leaf';
export { LeafHealthIndicator, type LeafHealth } from './leaf-health-indicator';
export type { EmbeddedSnowflakeOptions, LeafOptions } from './leaf-options';
export { LEAF_METRICS, type LeafFigures, type LeafMetric, metricsOf } from './metrics/leaf-metrics';
export {
  addMetrics,
  addReading,
  type Line,
  type Metric,
  type MetricReading,
  type MetricsRegistry,
  type Sample,
} from './metrics/metric-set';
export { type LeafMetricsOptions, registerLeafMetrics } from './metrics/register-leaf-metrics';
export { TagSeries } from './metrics/tag-series';
export { SegmentModule } from './segment.module';
export { SnowflakeModule } from './snowflake.module';
export type {
  DatabaseStatus,
  LeafReadiness,
  LeafStatus,
  RegistryStatus,
  SegmentStatus,
  SnowflakeStatus,
} from './status';
