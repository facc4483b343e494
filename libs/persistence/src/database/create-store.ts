import type { SegmentStore } from '@leaf-ids/core';
import type { SqlDatabase } from '../connections/sql-database';
import { DIALECTS } from '../dialects/dialects';
import type { FailoverOptions } from '../failover/failover-guard';
import { DatabaseNames } from '../stores/database-names';
import { SqlTagStore } from '../stores/sql-tag-store';
import type { DatabaseTarget } from './database-url';

/** A database as the stores use it, whoever opened it. */
export interface StoreDatabase {
  readonly target: Pick<DatabaseTarget, 'dialect'>;
  readonly access: SqlDatabase;
}

/** The segment store that speaks the dialect of its database. */
export function createSegmentStore({ access, target }: StoreDatabase, failover: FailoverOptions): SegmentStore {
  return DIALECTS[target.dialect].segments(access, failover);
}

/** What a database remembers of the others that tags were spread over. */
export function createDatabaseNames({ access, target }: StoreDatabase): DatabaseNames {
  return new DatabaseNames(access, DIALECTS[target.dialect].workers);
}

/** The tags of a database. */
export function createTagStore(database: StoreDatabase): SqlTagStore {
  const { access, target } = database;
  return new SqlTagStore(access, DIALECTS[target.dialect].tags, createDatabaseNames(database));
}
