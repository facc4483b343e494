import { type Clock, LeafError, type RandomSource } from '@leaf-ids/core';
import { ShardRouter } from '../sharding/shards';
import { replaced as replacedFault } from '../stores/database-names';
import { type MoveOptions, notReady, OpenDatabases } from './open-databases';

/** The databases are those with the one to take out. */
export interface RemoveDatabaseOptions extends MoveOptions {
  /** The name of the one to take out. */
  readonly database: string;
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
  readonly from: string;
  /** The database that has the tag from now on. */
  readonly to: string;
  /** Number of moved rows, with those of the periods. */
  readonly rows: number;
}

/**
 * Takes a database out of a list: moves its tags to the others, while servers with the old list may run.
 *
 * 1. One transaction freezes all rows of the database, and records in it that it has left the list.
 * 2. Each tag is inserted into the database that owns it under the new list, then deleted. The first two steps are
 *    repeated until there is nothing to hand over: a promoted replica may lack the first one.
 * 3. All others record that the name was removed. Until then, servers with the new list create no tags.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` for an unknown or an only database, or one in another state than the list
 *   says; `LEAF_TAG_ROW_INVALID`, `LEAF_TAG_EXISTS`, `LEAF_DATABASE_UNUSABLE`, `LEAF_STORE_UNAVAILABLE`
 */
export async function removeDatabase(
  options: RemoveDatabaseOptions,
  clock: Clock,
  random: RandomSource,
): Promise<RemovalReport> {
  const { shards, database } = options;
  const names = Object.keys(shards.databases);
  if (!names.includes(database)) throw notListed(database, names);
  if (names.length === 1) throw onlyOne(database);
  const open = await OpenDatabases.open(options, clock, random);
  try {
    return await removeFrom(open, options);
  } finally {
    await open.close();
  }
}

async function removeFrom(
  open: OpenDatabases,
  { shards, database, dryRun }: RemoveDatabaseOptions,
): Promise<RemovalReport> {
  const others = await othersTakenOut(open, database);
  const remaining = Object.keys(shards.databases).filter((name) => name !== database && !others.includes(name));
  if (remaining.length === 0) throw onlyOne(database);
  const assignments = Object.entries(shards.tags ?? {});
  const kept = Object.fromEntries(assignments.filter(([, name]) => remaining.includes(name)));
  const router = new ShardRouter(remaining, kept);
  const source = open.get(database);
  let counts: ReadonlyMap<string, number>;
  if (dryRun) {
    counts = await source.wouldHandOver();
  } else {
    await open.prepare();
    counts = await source.handOver((tag) => open.get(router.shardOf(tag)));
    for (const { name, names } of open) if (name !== database) await names.mark(database, 'removed');
  }
  const tags = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...{ database, dryRun, remaining },
    tags: tags.map(([tag, rows]) => ({ tag, from: database, to: router.shardOf(tag), rows })),
    assigned: assignments.flatMap(([tag, name]) => (name === database ? tag : [])),
  };
}

/**
 * The others that were taken out, too: they must not get tags.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` for any other problem, but those of an earlier attempt that was interrupted
 */
async function othersTakenOut(open: OpenDatabases, database: string): Promise<readonly string[]> {
  const { takenOut, messages, replaced, lists } = await open.compareNames();
  const isBegun = lists.get(database)?.get(database) === 'left';
  const faults = isBegun ? [...messages.slice(takenOut.length), ...replaced.map(replacedFault)] : open.problems;
  if (faults.length > 0) throw notReady(faults);
  return takenOut.filter((name) => name !== database);
}

function notListed(name: string, names: readonly string[]): LeafError {
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    `Unknown database "${name}": the option segment.database.shards lists ${names.join(', ')}. Run the command with a list that contains it.`,
  );
}

function onlyOne(name: string): LeafError {
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    `"${name}" is the only database in the option segment.database.shards: its tags cannot move to another one.`,
  );
}
