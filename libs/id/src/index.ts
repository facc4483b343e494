export { IdService, LeafError } from '@leaf-ids/core';
export type { DeclaredTag } from '@leaf-ids/core/internal';
export type { PersistenceModuleOptions } from '@leaf-ids/persistence';
export type { RegistryOptions } from '@leaf-ids/registry';
export { type SegmentModuleOptions, SegmentService } from '@leaf-ids/segment';
export { type SnowflakeModuleOptions, SnowflakeService } from '@leaf-ids/snowflake';
export { EmbeddedIdService } from './embedded-id-service';
export type { Health as LeafModeHealth, HealthStatus as LeafHealthStatus } from './health';
export { IdModule } from './id.module';
export type { IdModuleExtras, IdModuleFactoryOptions, IdModuleOptions, NamedDataSource } from './id.module-definition';
export { Leaf, type LeafStores } from './leaf';
export { LeafHealthIndicator, type LeafHealth } from './leaf-health-indicator';
export type { EmbeddedSnowflakeOptions, LeafOptions, OpenDataSource } from './leaf-options';
export type { MetricsRegistry } from './metrics/metric-set';
export { type LeafMetricsOptions, registerLeafMetrics } from './metrics/register-leaf-metrics';
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
