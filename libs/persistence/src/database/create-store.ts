import type { Clock, SegmentStore } from '@leaf-ids/core';
import { JournalSeal } from '@leaf-ids/core/internal';
import type { SqlDatabase } from '../connections/sql-database';
import { DIALECTS } from '../dialects/dialects';
import {
  DEFAULT_FAILOVER_GAP_STEPS,
  FailoverGuard,
  type FailoverOptions,
  type MoveReport,
} from '../failover/failover-guard';
import type { Gap } from '../failover/move-forward';
import { SqlNumberStore } from '../numbers/sql-number-store';
import { DatabaseNames } from '../stores/database-names';
import { SqlTagStore } from '../stores/sql-tag-store';
import { TagRows } from '../stores/tag-rows';
import type { DatabaseTarget } from './database-url';

/** Log message of a database in memory. */
export const IN_MEMORY =
  'The database is in memory: nothing lasts. Each restart, and each other Leaf with such a database, issues the same IDs again. Use it only in tests.';

/** Log message after the tables in `database` were created. */
export function newDatabase(database: string): string {
  return `The database ${database} is new: every tag starts at 1. If this service already has a database, stop this server now and correct the URL; leaf-server check shows which database has each tag.`;
}

/** An open database, as the stores use it. */
export interface StoreDatabase {
  readonly target: Pick<DatabaseTarget, 'dialect'>;
  readonly access: SqlDatabase;
}

/** How gapless numbers are kept. */
export interface NumberOptions {
  /** Secret for the hashes of the journals. */
  readonly key?: string;
  /** Whether no failover of the database loses a commit: numbers then go on after one without a question. */
  readonly sync?: boolean;
}

export function sealOf({ key }: NumberOptions): JournalSeal {
  return new JournalSeal(key);
}

/** The stores of segments and of gapless numbers, which share what is known of failovers. */
export function createStores(
  database: StoreDatabase,
  failover: FailoverOptions,
  numbers: NumberOptions,
  clock: Pick<Clock, 'now'>,
): { readonly segments: SegmentStore; readonly numbers: SqlNumberStore } {
  const dialect = DIALECTS[database.target.dialect];
  const guard = createGuard(database, failover);
  const rules = { seal: sealOf(numbers), isSynchronous: numbers.sync === true, now: () => clock.now() };
  return {
    segments: dialect.segments(database.access, guard),
    numbers: new SqlNumberStore(database.access, dialect.tags, guard, rules),
  };
}

/** Creates the segment store for the dialect of the database. */
export function createSegmentStore(database: StoreDatabase, failover: FailoverOptions): SegmentStore {
  return DIALECTS[database.target.dialect].segments(database.access, createGuard(database, failover));
}

/**
 * Moves every tag, period and record of a deleted tag of a database forward after it was restored from a backup, so
 * that nothing is issued twice. Run it before servers use the database; a server that runs meanwhile is safe, too.
 *
 * @param gap how far: at least `steps` times `least` IDs; defaults to the gap of a failover
 * @throws LeafError `LEAF_CONFIG_INVALID` for an empty gap; `LEAF_STORE_UNAVAILABLE`
 */
export function moveAfterRestore(database: StoreDatabase, gap?: Gap): Promise<MoveReport> {
  return createGuard(database, { gapSteps: DEFAULT_FAILOVER_GAP_STEPS, onFailover: () => undefined }).restored(gap);
}

/** The guard of a database; one for each store. */
export function createGuard({ access, target }: StoreDatabase, failover: FailoverOptions): FailoverGuard {
  const { guard, tags } = DIALECTS[target.dialect];
  return new FailoverGuard(access, guard, tags, failover);
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

/** The rows of a database, for moving them to another one. */
export function createTagRows(database: StoreDatabase): TagRows {
  const { access, target } = database;
  return new TagRows(access, DIALECTS[target.dialect].tags, createDatabaseNames(database));
}
