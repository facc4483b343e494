export { IdService, LeafError } from '@leaf-ids/core';
export type { DeclaredTag } from '@leaf-ids/core/internal';
export { LEAF_DATA_SOURCE, LeafAlloc, type PersistenceModuleOptions } from '@leaf-ids/persistence';
export type { RegistryOptions } from '@leaf-ids/registry';
export { SegmentService, type SegmentModuleOptions } from './segment/segment.service';
export type { RegistryModuleOptions, SnowflakeModuleOptions } from './snowflake/snowflake-options';
export { SnowflakeService } from './snowflake/snowflake.service';
export { EmbeddedIdService } from './runtime/embedded-id-service';
export type { Health as LeafModeHealth, HealthStatus as LeafHealthStatus } from './runtime/health';
export { IdModule } from './modules/id.module';
export type {
  IdModuleExtras,
  IdModuleFactoryOptions,
  IdModuleOptions,
  NamedDataSource,
} from './modules/id.module-definition';
export { Leaf, type LeafStores } from './runtime/leaf';
export { LeafHealthIndicator, type LeafHealth } from './modules/leaf-health-indicator';
export type { EmbeddedSnowflakeOptions, LeafOptions, OpenDataSource } from './options/leaf-options';
export type { MetricsRegistry } from './metrics/metric-set';
export { type LeafMetricsOptions, registerLeafMetrics } from './metrics/leaf-metrics';
export { RegistryModule } from './modules/registry.module';
export { SegmentModule } from './modules/segment.module';
export { SnowflakeModule } from './modules/snowflake.module';
export type {
  DatabaseStatus,
  LeafReadiness,
  LeafStatus,
  RegistryStatus,
  SegmentStatus,
  SnowflakeStatus,
} from './runtime/status';
