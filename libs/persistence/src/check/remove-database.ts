import { type Clock, LeafError, type RandomSource, tagOfRow } from '@leaf-ids/core';
import { createDatabaseNames, createTagRows } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { openDatabase } from '../database/open-database';
import { RESTORE_LIMIT_MS } from '../failover/failover-guard';
import { type ShardMap, ShardRouter } from '../sharding/shard-router';
import type { DatabaseNames } from '../stores/database-names';
import { type RecordedNames, replaced as replacedFault, rosterFaults } from '../stores/roster-faults';
import { byTag, type TagRows } from '../stores/tag-rows';
import { checkDatabases } from './check-databases';

export interface RemoveDatabaseOptions {
  /** The databases with the one to take out. */
  readonly shards: ShardMap;
  /** The name of the one to take out. */
  readonly database: string;
  /** Database settings that can lose a commit, accepted by name. */
  readonly accept?: readonly string[];
  /** Report what would be done, and change nothing. */
  readonly dryRun: boolean;
}

/** The result of `leaf-server remove-database`. */
export interface RemovalReport {
  readonly database: string;
  readonly dryRun: boolean;
  /** The databases of the list from now on. */
  readonly remaining: readonly string[];
  /** Sorted by name: the tags that were moved now, not those of an earlier attempt. */
  readonly tags: readonly MovedTag[];
  /** Tags that the settings assign to the database: these assignments have to go. */
  readonly assigned: readonly string[];
}

export interface MovedTag {
  readonly tag: string;
  /** The database that has the tag from now on. */
  readonly to: string;
  /** With the rows of its periods. */
  readonly rows: number;
}

interface Open {
  readonly dataSource: LeafDataSource;
  readonly rows: TagRows;
  readonly names: DatabaseNames;
}

/**
 * Takes a database out of a list: moves its tags to the others, with their positions, settings, periods and records.
 * Servers with the old list may run meanwhile and afterwards; they refuse the tags that were moved.
 *
 * 1. One transaction freezes all rows of the database, and records in it that it has left the list. From then on,
 *    nothing is allocated from it, and no tag is created in it.
 * 2. Each tag is inserted into the database that owns it under the new list, then deleted. Meanwhile it is refused.
 * 3. All others record that the name was removed. Until then, servers with the new list miss the database, so that they
 *    refuse unknown tags and create none.
 *
 * A repetition continues after the last step that was done.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` for an unknown or an only database, or while a database is not in the state
 *   that the list says; `LEAF_TAG_ROW_INVALID` for a tag that cannot be moved; `LEAF_TAG_EXISTS`,
 *   `LEAF_DATABASE_UNUSABLE`, `LEAF_STORE_UNAVAILABLE`
 */
export async function removeDatabase(
  options: RemoveDatabaseOptions,
  clock: Clock,
  random: RandomSource,
): Promise<RemovalReport> {
  const { shards, database, accept = [] } = options;
  const names = Object.keys(shards.databases);
  if (!names.includes(database)) throw notListed(database, names);
  if (names.length === 1) throw onlyOne(database);
  const { ok, databases, problems } = await checkDatabases({ shards, migrate: false }, clock, random);
  if (databases.some(({ state }) => state !== 'ready')) throw notReady(problems);
  const open = new Map<string, Open>();
  try {
    for (const [name, url] of Object.entries(shards.databases)) {
      const target = parseDatabaseUrl(url);
      const settings = { target, migrate: false, accept, attempts: 1, onCloseProblem: () => undefined };
      const dataSource = await openDatabase(settings, clock, random);
      open.set(name, { dataSource, rows: createTagRows(dataSource), names: createDatabaseNames(dataSource) });
    }
    return await removeFrom(open, options, ok ? [] : problems);
  } finally {
    for (const { dataSource } of open.values()) await dataSource.destroy();
  }
}

async function removeFrom(
  open: ReadonlyMap<string, Open>,
  { shards, database, dryRun }: RemoveDatabaseOptions,
  problems: readonly string[],
): Promise<RemovalReport> {
  const remaining = [...open.keys()].filter((name) => name !== database);
  const assignments = Object.entries(shards.tags ?? {});
  const kept = Object.fromEntries(assignments.filter(([, name]) => name !== database));
  const router = new ShardRouter(remaining, kept);
  const source = of(open, database);
  const isBegun = await isTakenOut(open, database);
  if (!isBegun && problems.length > 0) throw notReady(problems);
  if (!isBegun && !dryRun) await freeze(open, database);
  const waiting = dryRun ? await source.rows.movable() : [];
  const handedOver = await source.rows.handedOver();
  const counts = new Map<string, number>();
  for (const row of [...waiting, ...handedOver.rows.map(({ biz_tag }) => biz_tag)]) {
    counts.set(tagOfRow(row), (counts.get(tagOfRow(row)) ?? 0) + 1);
  }
  const tags = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  const report: RemovalReport = {
    ...{ database, dryRun, remaining },
    tags: tags.map(([tag, rows]) => ({ tag, to: router.shardOf(tag), rows })),
    assigned: assignments.flatMap(([tag, name]) => (name === database ? tag : [])),
  };
  if (dryRun) return report;
  for (const [tag, group] of byTag(handedOver)) {
    await of(open, router.shardOf(tag)).rows.takeOver(group);
    await source.rows.forget(group.rows);
  }
  for (const name of remaining) await of(open, name).names.mark(database, 'removed');
  return report;
}

/**
 * Whether an earlier attempt has frozen the database.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` when another database of the list must not get tags
 */
async function isTakenOut(open: ReadonlyMap<string, Open>, database: string): Promise<boolean> {
  const lists = new Map<string, RecordedNames>();
  for (const [name, { names }] of open) lists.set(name, await names.list());
  const { takenOut, messages, replaced } = rosterFaults([...open.keys()], lists);
  const isBegun = lists.get(database)?.get(database) === 'left';
  const others = messages.length - (takenOut.includes(database) ? 1 : 0) + replaced.length;
  if (isBegun && others > 0) throw notReady([...messages, ...replaced.map(replacedFault)]);
  return isBegun;
}

/** No server creates a tag in the database after this: {@link DatabaseNames.assertNotLeft} waits for it. */
async function freeze(open: ReadonlyMap<string, Open>, database: string): Promise<void> {
  // In each database its own name first: see Roster.
  for (const [name, { names }] of open) await names.add(name);
  for (const { names } of open.values()) for (const name of open.keys()) await names.add(name);
  const { dataSource, names, rows } = of(open, database);
  await dataSource.access.transaction(async (statement) => {
    await names.mark(database, 'left', statement);
    await rows.freeze(statement);
  }, RESTORE_LIMIT_MS);
}

function of(open: ReadonlyMap<string, Open>, name: string): Open {
  const found = open.get(name);
  if (found === undefined) throw new Error(`there is no database "${name}"`);
  return found;
}

function notListed(name: string, names: readonly string[]): LeafError {
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    `There is no database "${name}" in the option segment.database.shards, which has ${names.join(', ')}. Run the command with the list that contains it.`,
  );
}

function onlyOne(name: string): LeafError {
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    `"${name}" is the only database of the option segment.database.shards: there is no other one for its tags.`,
  );
}

function notReady(problems: readonly string[]): LeafError {
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    `Nothing was changed, because leaf-server check reports problems. Solve them first: ${problems.join(' ')}`,
  );
}
