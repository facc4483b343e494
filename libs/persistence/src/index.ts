export { DURABILITY_SETTINGS } from './connections/weakness';
export { checkDatabases } from './check/check-databases';
export type { CheckedDatabase, CheckedTag, DatabaseReport } from './check/database-report';
export { createSegmentStore, createTagStore, type StoreDatabase } from './create-store';
export { parseDatabaseUrl, type DatabaseTarget } from './database-url';
export type { FailoverOptions } from './failover/failover-guard';
export { LeafDataSource } from './leaf-data-source';
export { FIRST_TAG, openDatabase, type OpenDatabaseOptions } from './open-database';
export { schemaStatements } from './schema/schema-statements';
export { Shard, type ShardOptions } from './sharding/shard';
export { type ShardMap, ShardRouter } from './sharding/shard-router';
export { type ShardEvents, ShardedSegmentStore } from './sharding/sharded-segment-store';
export { ShardedTagStore } from './sharding/sharded-tag-store';
export { Shards } from './sharding/shards';
export { LazyDatabase } from './lazy-database';
export { lentTarget } from './lent-database';
export { loadSqlite, type SqliteConnection } from './sqlite/sqlite-driver';
export { FIXED_WORKERS, POOL_WORKERS, SqlWorkerStore, type WorkerTable } from './workers/sql-worker-store';
export type { WorkerDatabase } from './workers/worker-database';
export { openPersistence } from './open-persistence';
export { PersistenceModule } from './persistence.module';
export {
  DEFAULT_FAILOVER_GAP_STEPS,
  type PersistenceModuleOptions,
  type SharedPersistenceOptions,
  type UrlPersistenceOptions,
} from './persistence.module-definition';
