export { createSegmentStore, createTagStore } from './create-store';
export { parseDatabaseUrl, type DatabaseTarget } from './database-url';
export type { FailoverOptions } from './failover/failover-guard';
export { LeafDataSource } from './leaf-data-source';
export { openDatabase, type OpenDatabaseOptions } from './open-database';
export { PersistenceModule } from './persistence.module';
export { DEFAULT_FAILOVER_GAP_STEPS, type PersistenceModuleOptions } from './persistence.module-definition';
