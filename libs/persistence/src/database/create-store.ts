import type { SegmentStore } from '@leaf-ids/core';
import type { SqlDatabase } from '../connections/sql-database';
import { DIALECTS } from '../dialects/dialects';
import type { FailoverOptions } from '../failover/failover-guard';
import { DatabaseNames } from '../stores/database-names';
import { SqlTagStore } from '../stores/sql-tag-store';
import type { DatabaseTarget } from './database-url';

/** An open database, as the stores use it. */
export interface StoreDatabase {
  readonly target: Pick<DatabaseTarget, 'dialect'>;
  readonly access: SqlDatabase;
}

/** Creates the segment store for the dialect of the database. */
export function createSegmentStore({ access, target }: StoreDatabase, failover: FailoverOptions): SegmentStore {
  return DIALECTS[target.dialect].segments(access, failover);
}

/** The database names on record in a database. */
export function createDatabaseNames({ access, target }: StoreDatabase): DatabaseNames {
  return new DatabaseNames(access, DIALECTS[target.dialect].workers);
}

/** The tags of a database. */
export function createTagStore(database: StoreDatabase): SqlTagStore {
  const { access, target } = database;
  return new SqlTagStore(access, DIALECTS[target.dialect].tags, createDatabaseNames(database));
}
