import type { DataSource } from 'typeorm';
import type { Clock, SegmentStore } from '@leaf/core';
import { DEFAULT_LIMITS } from './data-source-options';
import type { DatabaseTarget } from './database-url';
import { FailoverGuard, type FailoverOptions } from './failover/failover-guard';
import { MYSQL_GUARD } from './failover/mysql-guard-dialect';
import { POSTGRES_GUARD } from './failover/postgres-guard-dialect';
import { MysqlSegmentStore } from './mysql/mysql-segment-store';
import { PostgresSegmentStore } from './postgres/postgres-segment-store';
import { SqlDatabase } from './sql-database';
import { SqliteSegmentStore } from './sqlite/sqlite-segment-store';

/** The segment store that speaks the dialect of its database. */
export function createSegmentStore(
  dataSource: DataSource,
  { dialect, description }: DatabaseTarget,
  clock: Clock,
  failover: FailoverOptions,
): SegmentStore {
  const database = new SqlDatabase(dataSource, description, clock, DEFAULT_LIMITS.queryMs);
  switch (dialect) {
    case 'sqlite':
      return new SqliteSegmentStore(database);
    case 'mysql':
      return new MysqlSegmentStore(database, new FailoverGuard(database, MYSQL_GUARD, failover));
    case 'postgres':
      return new PostgresSegmentStore(database, new FailoverGuard(database, POSTGRES_GUARD, failover));
  }
}
