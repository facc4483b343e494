import type { SegmentStore } from '@leaf/core';
import { FailoverGuard, type FailoverOptions } from './failover/failover-guard';
import { MYSQL_GUARD } from './failover/mysql-guard-dialect';
import { POSTGRES_GUARD } from './failover/postgres-guard-dialect';
import type { DatabaseTarget } from './database-url';
import { MysqlSegmentStore } from './mysql/mysql-segment-store';
import { PostgresSegmentStore } from './postgres/postgres-segment-store';
import { SqliteSegmentStore } from './sqlite/sqlite-segment-store';
import { DatabaseNames } from './tags/database-names';
import { SqlTagStore } from './tags/sql-tag-store';
import type { SqlDatabase } from './sql-database';
import { TAG_DIALECTS } from './tags/tag-dialect';

/** A database as the stores use it, whoever opened it. */
export interface StoreDatabase {
  readonly target: Pick<DatabaseTarget, 'dialect'>;
  readonly access: SqlDatabase;
}

/** The segment store that speaks the dialect of its database. */
export function createSegmentStore({ access, target }: StoreDatabase, failover: FailoverOptions): SegmentStore {
  switch (target.dialect) {
    case 'sqlite':
      return new SqliteSegmentStore(access);
    case 'mysql':
      return new MysqlSegmentStore(access, new FailoverGuard(access, MYSQL_GUARD, failover));
    case 'postgres':
      return new PostgresSegmentStore(access, new FailoverGuard(access, POSTGRES_GUARD, failover));
  }
}

/** What a database remembers of the others that tags were spread over. */
export function createDatabaseNames({ access, target }: StoreDatabase): DatabaseNames {
  return new DatabaseNames(access, target.dialect);
}

/** The tags of a database. */
export function createTagStore(database: StoreDatabase): SqlTagStore {
  const { access, target } = database;
  return new SqlTagStore(access, TAG_DIALECTS[target.dialect], createDatabaseNames(database));
}
