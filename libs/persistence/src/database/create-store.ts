import type { SegmentStore } from '@leaf/core';
import { FailoverGuard, type FailoverOptions } from '../failover/failover-guard';
import { MYSQL_GUARD } from '../dialects/mysql-guard';
import { POSTGRES_GUARD } from '../dialects/postgres-guard';
import type { DatabaseTarget } from './database-url';
import { MysqlSegmentStore } from '../dialects/mysql-segment-store';
import { PostgresSegmentStore } from '../dialects/postgres-segment-store';
import { SqliteSegmentStore } from '../dialects/sqlite-segment-store';
import { DatabaseNames } from '../stores/database-names';
import { SqlTagStore } from '../stores/sql-tag-store';
import type { SqlDatabase } from '../connections/sql-database';
import { TAG_DIALECTS } from '../stores/tag-dialect';

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
