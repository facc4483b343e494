import { existsSync } from 'node:fs';
import type { Clock, RandomSource, TagRow } from '@leaf-ids/core';
import { reasonOf } from '@leaf-ids/core/internal';
import type { RecordedNames } from '../stores/roster-faults';
import { hasTable } from '../schema/columns';
import { createDatabaseNames, createTagStore } from '../database/create-store';
import { DIALECTS } from '../dialects/dialects';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { openDatabase } from '../database/open-database';

/** The contents of one database. */
export interface DatabaseContents {
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
export async function readDatabase(
  name: string,
  url: string,
  clock: Clock,
  random: RandomSource,
): Promise<DatabaseContents> {
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
