export { createSegmentStore } from './create-store';
export { parseDatabaseUrl, type DatabaseTarget } from './database-url';
export { LeafDataSource } from './leaf-data-source';
export { openDatabase, type OpenDatabaseOptions } from './open-database';
export { PersistenceModule } from './persistence.module';
export type { PersistenceModuleOptions } from './persistence.module-definition';
