export { IdService, LeafError, WorkerRegistry } from '@leaf/core';
export { EmbeddedIdService } from './embedded-id-service';
export {
  LeafHealthIndicator,
  type LeafHealth,
  type LeafHealthStatus,
  type LeafModeHealth,
} from './health/leaf-health-indicator';
export { IdModule } from './id.module';
export type {
  EmbeddedSnowflakeOptions,
  IdModuleExtras,
  IdModuleFactoryOptions,
  IdModuleOptions,
  NamedDataSource,
} from './id.module-definition';
export { type LeafMetricsOptions, type MetricsRegistry, registerLeafMetrics } from './metrics/register-leaf-metrics';
