import { existsSync } from 'node:fs';
import type { Clock, Interleave, RandomSource, TagRow } from '@leaf-ids/core';
import { reasonOf } from '@leaf-ids/core/internal';
import type { PersistenceModuleOptions } from '../module/persistence.module-definition';
import { aloneFault, type RecordedNames, replaced, rosterFaults } from '../stores/database-names';
import { ShardRouter, behind, misplaced, sharesMissing } from '../sharding/shards';
import { shareFault } from '../sharding/shared-tags';
import { hasTable } from '../schema/tables';
import { createDatabaseNames, createTagStore } from '../database/create-store';
import { DIALECTS } from '../dialects/dialects';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { openDatabase } from '../database/open-database';

/** The contents of one database. */
interface DatabaseContents {
  readonly name: string;
  /** Its URL without secrets. */
  readonly database: string;
  readonly state: 'ready' | 'new' | 'unusable';
  readonly problem?: string;
  readonly rows: readonly TagRow[];
  /** Deleted tag → its first unallocated ID. */
  readonly deleted: ReadonlyMap<string, bigint>;
  /** The names of databases that it has on record. */
  readonly names: RecordedNames;
}

const NOTHING = { rows: [], deleted: new Map<string, bigint>(), names: new Map() as RecordedNames };

/** Reads a database without changing it; never rejects. */
async function readDatabase(name: string, url: string, clock: Clock, random: RandomSource): Promise<DatabaseContents> {
  const target = parseDatabaseUrl(url);
  const found = { name, database: target.description };
  if ('file' in target && target.file !== undefined && !existsSync(target.file))
    return { ...found, ...NOTHING, state: 'new' };
  const options = { target, migrate: false, attempts: 1, onCloseProblem: () => undefined };
  try {
    const dataSource = await openDatabase(options, clock, random);
    try {
      if (!(await hasTable(dataSource, DIALECTS[target.dialect].schema, 'leaf_alloc')))
        return { ...found, ...NOTHING, state: 'new' };
      return { ...found, state: 'ready', ...(await contentsOf(dataSource)) };
    } finally {
      await dataSource.destroy();
    }
  } catch (error) {
    return { ...found, ...NOTHING, state: 'unusable', problem: reasonOf(error) };
  }
}

async function contentsOf(dataSource: LeafDataSource): Promise<Pick<DatabaseContents, 'rows' | 'deleted' | 'names'>> {
  const tags = createTagStore(dataSource);
  return {
    rows: await tags.list(),
    deleted: await tags.listDeleted(),
    names: await createDatabaseNames(dataSource).list(),
  };
}

/** The name under which a single database is reported. */
const SINGLE_DATABASE = 'database';

type CheckedOptions = Exclude<PersistenceModuleOptions, { readonly dataSource: unknown }>;

/**
 * Reads the databases of a configuration without changing them, and reports which database serves each tag.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export async function checkDatabases(
  options: CheckedOptions,
  clock: Clock,
  random: RandomSource,
): Promise<DatabaseReport> {
  const { databases, tags = {} } =
    'shards' in options ? options.shards : { databases: { [SINGLE_DATABASE]: options.url } };
  const read = Object.entries(databases).map(([name, url]) => readDatabase(name, url, clock, random));
  const found = await Promise.all(read);
  const router = new ShardRouter(Object.keys(databases), tags);
  const checked = checkTags(found, router, 'shards' in options);
  const rosterProblems =
    'shards' in options ? rosterProblemsOf(found) : found.flatMap(({ names }) => aloneFault(names) ?? []);
  const problems = [
    ...found.flatMap(stateProblem),
    ...rosterProblems,
    ...checked.flatMap(({ problem }) => problem ?? []),
  ];
  return {
    ok: problems.length === 0,
    databases: found.map(({ name, database, state, rows, deleted }) => {
      return { name, database, state, tags: rows.length, deleted: deleted.size };
    }),
    tags: checked.map(({ row }) => row),
    problems,
  };
}

interface Checked {
  readonly row: CheckedTag;
  readonly problem: string | undefined;
}

function checkTags(found: readonly DatabaseContents[], router: ShardRouter, areAll: boolean): Checked[] {
  const places = new Map<string, Place[]>();
  for (const { name, rows } of found) {
    for (const { tag, maxId, interleave } of rows) {
      const rowsOfTag = places.get(tag) ?? [];
      rowsOfTag.push({ database: name, maxId, interleave });
      places.set(tag, rowsOfTag);
    }
  }
  const names = [...places.keys()].sort();
  return names.flatMap((tag) => {
    const rows = places.get(tag) ?? [];
    if (rows.some(({ interleave }) => interleave !== undefined)) return checkShares(tag, rows, areAll);
    return checkTag(tag, rows, router.shardOf(tag), deletedOf(tag, found));
  });
}

interface Place {
  readonly database: string;
  readonly maxId: bigint;
  readonly interleave?: Interleave | undefined;
}

/** @param deleted the records of deleted tags with this name, in all databases */
function checkTag(tag: string, rows: readonly Place[], owner: string, deleted: readonly Place[]): Checked[] {
  const own = rows.find(({ database }) => database === owner);
  const ahead = [...rows, ...deleted].find(({ database, maxId }) => database !== owner && own && maxId > own.maxId);
  return rows.map(({ database, maxId }) => {
    const row = { tag, database, owner, maxId: String(maxId) };
    if (own === undefined) return { row: { ...row, state: 'misplaced' }, problem: misplaced(tag, database, owner) };
    if (database !== owner) return { row: { ...row, state: 'left over' }, problem: misplaced(tag, database, owner) };
    if (ahead === undefined) return { row: { ...row, state: 'ok' }, problem: undefined };
    return { row: { ...row, state: 'behind' }, problem: behind(tag, owner, ahead.database, ahead.maxId) };
  });
}

/**
 * An interleaved tag belongs to every database that has a share of it.
 *
 * @param areAll whether each share is in one of these databases; a single database may be one of several sites
 */
function checkShares(tag: string, rows: readonly Place[], areAll: boolean): Checked[] {
  const shares = rows.flatMap(({ database, interleave }) => (interleave ? [[database, interleave] as const] : []));
  const plain = rows.find(({ interleave }) => interleave === undefined);
  const of = shares[0]?.[1].of ?? 0;
  const fault = plain === undefined ? shareFault(shares) : `has a row in "${plain.database}" that is not interleaved.`;
  const missing = areAll && shares.length < of ? sharesMissing(tag, shares.length, of) : undefined;
  const problem = fault === undefined ? missing : `Tag "${tag}" ${fault}`;
  return rows.map(({ database, maxId }, index) => ({
    row: { tag, database, owner: database, maxId: String(maxId), state: problem === undefined ? 'ok' : 'misplaced' },
    problem: index > 0 ? undefined : problem,
  }));
}

function deletedOf(tag: string, found: readonly DatabaseContents[]): Place[] {
  return found.flatMap(({ name, deleted }) => {
    const maxId = deleted.get(tag);
    return maxId === undefined ? [] : [{ database: name, maxId }];
  });
}

function stateProblem({ name, database, state, problem }: DatabaseContents): string[] {
  if (state === 'ready') return [];
  if (state === 'unusable')
    return [`The database "${name}" (${database}) cannot be read: ${(problem ?? 'no reason').replace(/\.?$/, '.')}`];
  return [
    `The database "${name}" (${database}) is new: the first start creates its tables, and every tag starts at 1.`,
  ];
}

function rosterProblemsOf(found: readonly DatabaseContents[]): string[] {
  const readable = found.filter(({ state }) => state !== 'unusable');
  const faults = rosterFaults(
    found.map(({ name }) => name),
    new Map(readable.map(({ name, names }) => [name, names])),
  );
  return [...faults.messages, ...faults.replaced.map(replaced)];
}

/** The result of `leaf-server check`. */
export interface DatabaseReport {
  /** Whether every tag is in the database that this configuration assigns to it, so that no tag restarts at 1. */
  readonly ok: boolean;
  readonly databases: readonly CheckedDatabase[];
  /** Sorted by name; one entry for each row of a tag. */
  readonly tags: readonly CheckedTag[];
  /** Each problem and its remedy, in sentences. */
  readonly problems: readonly string[];
}

export interface CheckedDatabase {
  readonly name: string;
  /** Its URL without secrets. */
  readonly database: string;
  /** `new`: the tables of Leaf are missing; the first start creates them. `unusable`: the database cannot be read. */
  readonly state: 'ready' | 'new' | 'unusable';
  readonly tags: number;
  /** Number of deleted tags on record. */
  readonly deleted: number;
}

export interface CheckedTag {
  readonly tag: string;
  /** The database that has the row. */
  readonly database: string;
  /** The database that this configuration assigns to the tag. */
  readonly owner: string;
  /** The first unallocated ID, decimal. */
  readonly maxId: string;
  /**
   * `misplaced`: the tag is refused, because the database that owns it has no row. `left over`: IDs come from the row
   * in the owner. `behind`: the row in the owner would issue IDs a second time.
   */
  readonly state: 'ok' | 'misplaced' | 'left over' | 'behind';
}
