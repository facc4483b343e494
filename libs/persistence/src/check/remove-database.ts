import { type Clock, LeafError, type RandomSource, tagOfRow } from '@leaf-ids/core';
import { createDatabaseNames, createGuard, createTagRows } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { openDatabase } from '../database/open-database';
import { DEFAULT_FAILOVER_GAP_STEPS, type FailoverGuard, RESTORE_LIMIT_MS } from '../failover/failover-guard';
import { type ShardMap, ShardRouter } from '../sharding/shard-router';
import type { DatabaseNames } from '../stores/database-names';
import { type RecordedNames, replaced as replacedFault, rosterFaults } from '../stores/roster-faults';
import { byTag, type HandedOver, type TagRows } from '../stores/tag-rows';
import { checkDatabases } from './check-databases';

export interface RemoveDatabaseOptions {
  /** The databases with the one to take out. */
  readonly shards: ShardMap;
  /** The name of the one to take out. */
  readonly database: string;
  /** Database settings that can lose a commit, accepted by name. */
  readonly accept?: readonly string[];
  /** As the servers have them: see `FailoverOptions`. */
  readonly failoverGapSteps?: number;
  readonly maxStep?: number;
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
  readonly guard: FailoverGuard;
}

/**
 * Takes a database out of a list: moves its tags to the others, with their positions, settings, periods and records.
 * Servers with the old list may run meanwhile and afterwards; they refuse the tags that were moved.
 *
 * 1. One transaction freezes all rows of the database, and records in it that it has left the list. From then on,
 *    nothing is allocated from it, and no tag is created in it. If the database is a promoted replica that no server has
 *    used yet, the transaction first moves its tags forward, as a server would.
 * 2. Each tag is inserted into the database that owns it under the new list, then deleted. Meanwhile it is refused. The
 *    first two steps are repeated until there is nothing to hand over: a replica that is promoted meanwhile may lack
 *    the first one, and a node of a cluster may have created a tag at the same time.
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
  const { shards, database, accept = [], failoverGapSteps = DEFAULT_FAILOVER_GAP_STEPS, maxStep } = options;
  const names = Object.keys(shards.databases);
  if (!names.includes(database)) throw notListed(database, names);
  if (names.length === 1) throw onlyOne(database);
  const { ok, databases, problems } = await checkDatabases({ shards, migrate: false }, clock, random);
  if (databases.some(({ state }) => state !== 'ready')) throw notReady(problems);
  const open = new Map<string, Open>();
  const failover = {
    ...{ gapSteps: failoverGapSteps, onFailover: () => undefined },
    ...(maxStep !== undefined && { maxStep }),
  };
  try {
    for (const [name, url] of Object.entries(shards.databases)) {
      const target = parseDatabaseUrl(url);
      const settings = { target, migrate: false, accept, attempts: 1, onCloseProblem: () => undefined };
      const dataSource = await openDatabase(settings, clock, random);
      const [rows, names] = [createTagRows(dataSource), createDatabaseNames(dataSource)];
      open.set(name, { dataSource, rows, names, guard: createGuard(dataSource, failover) });
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
  const { isBegun, others } = await findState(open, database);
  if (!isBegun && problems.length > 0) throw notReady(problems);
  const remaining = [...open.keys()].filter((name) => name !== database && !others.includes(name));
  if (remaining.length === 0) throw onlyOne(database);
  const assignments = Object.entries(shards.tags ?? {});
  const kept = Object.fromEntries(assignments.filter(([, name]) => remaining.includes(name)));
  const router = new ShardRouter(remaining, kept);
  const source = of(open, database);
  const counts = new Map<string, number>();
  const count = (row: string): unknown => counts.set(tagOfRow(row), (counts.get(tagOfRow(row)) ?? 0) + 1);
  if (dryRun) {
    (await source.rows.movable()).forEach(count);
    (await source.rows.handedOver()).rows.forEach(({ biz_tag }) => count(biz_tag));
  } else {
    // Also those that take over: rows with limits in a database without the record of its server are a lost failover.
    for (const { guard } of open.values()) await guard.prepare();
    await recordNames(open);
    let handedOver: HandedOver;
    do {
      handedOver = await freeze(source, database);
      for (const [tag, group] of byTag(handedOver)) {
        await of(open, router.shardOf(tag)).rows.takeOver(group);
        await source.rows.forget(group.rows);
      }
      handedOver.rows.forEach(({ biz_tag }) => count(biz_tag));
    } while (handedOver.rows.length > 0);
    for (const [name, { names }] of open) if (name !== database) await names.mark(database, 'removed');
  }
  const tags = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...{ database, dryRun, remaining },
    tags: tags.map(([tag, rows]) => ({ tag, to: router.shardOf(tag), rows })),
    assigned: assignments.flatMap(([tag, name]) => (name === database ? tag : [])),
  };
}

interface State {
  /** Whether an earlier attempt has frozen the database. */
  readonly isBegun: boolean;
  /** The others that were taken out, too: they must not get tags. */
  readonly others: readonly string[];
}

/** @throws LeafError `LEAF_CONFIG_INVALID` when the database was taken out, but others are missing or were replaced */
async function findState(open: ReadonlyMap<string, Open>, database: string): Promise<State> {
  const lists = new Map<string, RecordedNames>();
  for (const [name, { names }] of open) lists.set(name, await names.list());
  const { takenOut, messages, replaced } = rosterFaults([...open.keys()], lists);
  const isBegun = lists.get(database)?.get(database) === 'left';
  const faults = [...messages.slice(takenOut.length), ...replaced.map(replacedFault)];
  if (isBegun && faults.length > 0) throw notReady(faults);
  return { isBegun, others: takenOut.filter((name) => name !== database) };
}

/** In each database its own name first: see Roster. */
async function recordNames(open: ReadonlyMap<string, Open>): Promise<void> {
  for (const [name, { names }] of open) await names.add(name);
  for (const { names } of open.values()) for (const name of open.keys()) await names.add(name);
}

/**
 * No server creates a tag in the database after this: {@link DatabaseNames.assertNotLeft} waits for it.
 *
 * @returns what was frozen, by this call or an earlier one
 */
function freeze({ dataSource, names, rows, guard }: Open, database: string): Promise<HandedOver> {
  return dataSource.access.transaction(async (statement) => {
    await names.mark(database, 'left', statement);
    await rows.freeze(statement);
    // After the rows, in the order in which allocations lock.
    await guard.followWithin(statement);
    return rows.handedOver(statement);
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
