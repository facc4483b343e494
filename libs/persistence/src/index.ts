export { DIALECT_NAMES, type DialectName, DURABILITY_SETTINGS } from './dialects/dialects';
export { checkDatabases } from './check/check-databases';
export { type TagMoveReport, moveTags, type MoveTagsOptions } from './check/move-tags';
export { type MovedTag, removeDatabase, type RemovalReport, type RemoveDatabaseOptions } from './check/remove-database';
export { moveText, removalText } from './check/report-text';
export { restoreDatabase, type RestoredRow, type RestoreOptions, type RestoreReport } from './check/restore-database';
export { restoreText } from './check/report-text';
export { reportText } from './check/report-text';
export type { CheckedDatabase, CheckedTag, DatabaseReport } from './check/check-databases';
export {
  createDatabaseNames,
  createSegmentStore,
  createStores,
  createTagStore,
  moveAfterRestore,
  type NumberOptions,
  type StoreDatabase,
} from './database/create-store';
export { parseDatabaseUrl, type DatabaseTarget, sharedTarget } from './database/database-url';
export { DEFAULT_FAILOVER_GAP_STEPS, type FailoverOptions, type MoveReport } from './failover/failover-guard';
export type { Gap } from './failover/move-forward';
export { LeafDataSource } from './database/leaf-data-source';
export { FIRST_TAG, openDatabase, type OpenDatabaseOptions, LazyDatabase } from './database/open-database';
export { LeafAlloc } from './stores/stored-tag';
export { aloneFault } from './stores/database-names';
export { schemaStatements } from './database/schema-statements';
export { ShardedNumberStore } from './sharding/sharded-number-store';
export { SqlNumberStore } from './numbers/sql-number-store';
export { NumberTransaction } from './numbers/number-transaction';
export { Shard, type ShardOptions } from './sharding/shard';
export { type ShardEvents, ShardedSegmentStore } from './sharding/sharded-segment-store';
export { ShardedTagStore } from './sharding/sharded-tag-store';
export { Shards, type ShardMap, ShardRouter } from './sharding/shards';
export { loadSqlite, type SqliteConnection } from './dialects/sqlite/sqlite-file';
export { FIXED_WORKERS, POOL_WORKERS, SqlWorkerStore, type WorkerTable } from './stores/sql-worker-store';
export type { WorkerDatabase } from './stores/worker-database';
export { type LeafLogger, loggerOf, type LoggerOption, loggerRule } from './module/leaf-logger';
export { closeProblem } from './module/persistence.module-definition';
export { openPersistence, Persistence } from './module/open-persistence';
export { databasesOf, LEAF_DATA_SOURCE, PersistenceModule } from './module/persistence.module';
export {
  acceptRule,
  databaseUrlRule,
  dataSourceRule,
  persistenceRule,
  type PersistenceModuleOptions,
  type SharedPersistenceOptions,
  signalRule,
  type UrlPersistenceOptions,
} from './module/persistence.module-definition';
