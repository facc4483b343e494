import { existsSync } from 'node:fs';
import { type Clock, LeafError, MAX_ID, parseRegistryDocument, type RandomSource, tagOfRow } from '@leaf-ids/core';
import { unknownTag } from '@leaf-ids/core/internal';
import type { Statement } from '../connections/sql-database';
import { createGuard } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { openDatabase } from '../database/open-database';
import { DIALECTS } from '../dialects/dialects';
import { RESTORE_LIMIT_MS } from '../failover/failover-guard';
import { type Gap, setPosition } from '../failover/move-forward';
import { DOCUMENT } from '../stores/sql-worker-store';
import { idAt, interleaveOf, positionOf, select, type LeafAlloc } from '../stores/stored-tag';

/** The origin of a registry's document that no copy of the data has. */
const RESTORED = 'restored';

export interface RestoreOptions {
  /** The URL of the restored database. */
  readonly url: string;
  /** Run pending migrations: a backup may be older than the tables of this version. */
  readonly migrate: boolean;
  /** Database settings that can lose a commit, accepted by name. */
  readonly accept?: readonly string[];
  readonly gap: Gap;
  /** Tag → the highest ID that it has issued, if that is known: the tag continues above it, without a gap. */
  readonly issued: ReadonlyMap<string, bigint>;
  /** Report what would be done, and undo it. */
  readonly dryRun: boolean;
}

/** The result of `leaf-server restore`. */
export interface RestoreReport {
  /** The URL without secrets. */
  readonly database: string;
  readonly dryRun: boolean;
  /** Each tag was moved by at least this many IDs, or to the end of its range; decimal. */
  readonly gap: string;
  /** Sorted by name; the rows of periods after their tag. */
  readonly rows: readonly RestoredRow[];
  /** Records of deleted tags that were moved. */
  readonly deleted: number;
  /** Whether the database had the document of a worker registry, whose history is now lost. */
  readonly registry: boolean;
}

export interface RestoredRow {
  /** A tag, or `tag@period`. */
  readonly row: string;
  /** The first unallocated ID of the backup, decimal. */
  readonly before: string;
  /** The first ID that can be issued now, decimal. */
  readonly after: string;
  /** The last ID, decimal. */
  readonly max?: string;
  /** `used up`: `after` is above `max`, so that the row issues nothing until `max` is raised. */
  readonly state: 'moved' | 'used up';
}

/**
 * Prepares a database that was restored from a backup for use: moves every tag, period and record of a deleted tag
 * forward, and declares the history of its worker registry lost. One transaction; a repetition moves the tags again.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` when there is nothing to restore, or for an empty gap; `LEAF_TAG_NOT_FOUND`
 *   for an unknown tag in `issued`; `LEAF_DATABASE_UNUSABLE`, `LEAF_STORE_UNAVAILABLE`
 */
export async function restoreDatabase(
  options: RestoreOptions,
  clock: Clock,
  random: RandomSource,
): Promise<RestoreReport> {
  const target = parseDatabaseUrl(options.url);
  const { migrate, accept = [] } = options;
  if ('file' in target && (target.file === undefined || !existsSync(target.file))) {
    throw nothingToRestore(target.description);
  }
  const created: string[] = [];
  const events = { onCreated: () => created.push(target.description), onCloseProblem: () => undefined };
  const database = await openDatabase({ target, migrate, accept, attempts: 1, ...events }, clock, random);
  try {
    if (created.length > 0) throw nothingToRestore(target.description);
    return await restoreOpen(database, options);
  } finally {
    await database.destroy();
  }
}

async function restoreOpen(database: LeafDataSource, options: RestoreOptions): Promise<RestoreReport> {
  const { access } = database;
  const guard = createGuard(database, { gapSteps: options.gap.steps, onFailover: () => undefined });
  let report: RestoreReport | undefined;
  const undo = new LeafError('LEAF_INTERNAL', 'a dry run is rolled back');
  const restore = async (statement: Statement): Promise<RestoreReport> => {
    const before = await rowsOf(database, statement);
    const { ids, deleted } = await guard.restoredWithin(statement, options.gap);
    await continueAbove(database, options.issued, before, statement);
    const rows = compare(before, await rowsOf(database, statement));
    const registry = await beginGeneration(DIALECTS[database.target.dialect].workers.text, statement);
    report = { database: access.description, dryRun: options.dryRun, gap: String(ids), rows, deleted, registry };
    if (options.dryRun) throw undo;
    return report;
  };
  try {
    return await access.transaction(restore, RESTORE_LIMIT_MS);
  } catch (error) {
    if (error === undo && report !== undefined) return report;
    throw error;
  }
}

function rowsOf({ target }: LeafDataSource, statement: Statement): Promise<LeafAlloc[]> {
  return statement<LeafAlloc[]>(`${select(DIALECTS[target.dialect].tags)} ORDER BY biz_tag`);
}

/** Sets the rows of tags whose highest ID is known; of a tag with periods, the rows of all its periods. */
async function continueAbove(
  { target }: LeafDataSource,
  issued: RestoreOptions['issued'],
  before: readonly LeafAlloc[],
  statement: Statement,
): Promise<void> {
  const { text, thisTag, key, number } = DIALECTS[target.dialect].tags;
  for (const [tag, id] of issued) {
    const rows = before.filter(({ biz_tag }) => biz_tag === tag || tagOfRow(biz_tag) === tag);
    if (rows.length === 0) throw unknownTag(tag);
    for (const row of rows) {
      const above = positionOf(id + 1n, interleaveOf(row));
      const position = above > BigInt(row.max_id) ? above : BigInt(row.max_id);
      const sql = `UPDATE leaf_alloc SET ${setPosition(number)} WHERE ${thisTag}`;
      await statement(text(sql), [position, position, ...key(row.biz_tag)]);
    }
  }
}

function compare(before: readonly LeafAlloc[], after: readonly LeafAlloc[]): RestoredRow[] {
  const earlier = new Map(before.map((row) => [row.biz_tag, row]));
  return after.map((row) => {
    const next = nextId(row);
    const last = BigInt(row.last_id ?? MAX_ID - 1n);
    return {
      row: row.biz_tag,
      before: String(nextId(earlier.get(row.biz_tag) ?? row)),
      after: String(next),
      ...(row.last_id !== null && { max: row.last_id }),
      state: next > last ? 'used up' : 'moved',
    };
  });
}

function nextId(row: LeafAlloc): bigint {
  return idAt(BigInt(row.max_id), interleaveOf(row));
}

/**
 * Makes the document of another copy of the data from that of the worker registry, as after a failover: servers wait
 * until everybody who holds a worker ID has registered again. It keeps the layout and the strategy, because a registry
 * without a document waits until all recorded leases have expired.
 */
async function beginGeneration(text: (sql: string) => string, statement: Statement): Promise<boolean> {
  const where = `WHERE name = '${DOCUMENT}'`;
  const [row] = await statement<{ document: string }[]>(`SELECT document FROM leaf_registry ${where}`);
  const document = row && parseRegistryDocument(row.document);
  if (document === undefined) return false;
  const restored = JSON.stringify({ ...document, origin: RESTORED });
  await statement(text(`UPDATE leaf_registry SET document = ? ${where}`), [restored]);
  return true;
}

function nothingToRestore(description: string): LeafError {
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    `${description} has no tables of Leaf. Load the backup first, then run the command again.`,
  );
}
