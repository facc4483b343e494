import type { DataSource } from 'typeorm';
import type { Clock, SegmentStore } from '@leaf/core';
import { DEFAULT_LIMITS } from './data-source-options';
import type { DatabaseTarget } from './database-url';
import { MysqlSegmentStore } from './mysql/mysql-segment-store';
import { PostgresSegmentStore } from './postgres/postgres-segment-store';
import { SqliteSegmentStore } from './sqlite/sqlite-segment-store';

/** The segment store that speaks the dialect of its database. */
export function createSegmentStore(
  dataSource: DataSource,
  { dialect, description }: DatabaseTarget,
  clock: Clock,
): SegmentStore {
  const limitMs = DEFAULT_LIMITS.queryMs;
  switch (dialect) {
    case 'sqlite':
      return new SqliteSegmentStore(dataSource, description, clock, limitMs);
    case 'mysql':
      return new MysqlSegmentStore(dataSource, description, clock, limitMs);
    case 'postgres':
      return new PostgresSegmentStore(dataSource, description, clock, limitMs);
  }
}
