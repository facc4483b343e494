import type { SegmentStore, TagStore } from '@leaf/core';
import { FailoverGuard, type FailoverOptions } from './failover/failover-guard';
import { MYSQL_GUARD } from './failover/mysql-guard-dialect';
import { POSTGRES_GUARD } from './failover/postgres-guard-dialect';
import type { LeafDataSource } from './leaf-data-source';
import { MysqlSegmentStore } from './mysql/mysql-segment-store';
import { PostgresSegmentStore } from './postgres/postgres-segment-store';
import { SqliteSegmentStore } from './sqlite/sqlite-segment-store';
import { SqlTagStore } from './tags/sql-tag-store';
import { TAG_DIALECTS } from './tags/tag-dialect';

/** The segment store that speaks the dialect of its database. */
export function createSegmentStore({ access, target }: LeafDataSource, failover: FailoverOptions): SegmentStore {
  switch (target.dialect) {
    case 'sqlite':
      return new SqliteSegmentStore(access);
    case 'mysql':
      return new MysqlSegmentStore(access, new FailoverGuard(access, MYSQL_GUARD, failover));
    case 'postgres':
      return new PostgresSegmentStore(access, new FailoverGuard(access, POSTGRES_GUARD, failover));
  }
}

/** The tags of a database. */
export function createTagStore({ access, target }: LeafDataSource): TagStore {
  return new SqlTagStore(access, TAG_DIALECTS[target.dialect]);
}
