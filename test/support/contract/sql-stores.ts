import { SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import {
  createSegmentStore,
  createTagStore,
  FIRST_TAG,
  LazyDatabase,
  type DatabaseTarget,
  type FailoverOptions,
  type LeafDataSource,
  openDatabase,
  parseDatabaseUrl,
} from '@leaf-ids/persistence';
import { DEFAULT_LIMITS } from '../../../libs/persistence/src/connections/connection-source';
import type { DatabaseFixture } from './restore.contract';
import type { SegmentStoreFixture } from './segment-store.contract';
import type { TagStoreFixture } from './tag-store.contract';

/** Statements in the dialect of the database; a tag is its first parameter, or its first two. */
const STATEMENTS: Record<DatabaseTarget['dialect'], { readonly put: string; readonly read: string }> = {
  sqlite: {
    put: `INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES (?, ?, ?)
          ON CONFLICT (biz_tag) DO UPDATE SET max_id = EXCLUDED.max_id, step = EXCLUDED.step`,
    read: 'SELECT CAST(max_id AS TEXT) AS max_id FROM leaf_alloc WHERE biz_tag = ?',
  },
  mysql: {
    put: `INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES (?, ?, ?)
          ON DUPLICATE KEY UPDATE max_id = VALUES(max_id), step = VALUES(step)`,
    read: 'SELECT CAST(max_id AS CHAR) AS max_id FROM leaf_alloc WHERE CAST(biz_tag AS BINARY) = CAST(? AS BINARY)',
  },
  postgres: {
    put: `INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ($1, $2, $3)
          ON CONFLICT (biz_tag) DO UPDATE SET max_id = EXCLUDED.max_id, step = EXCLUDED.step`,
    read: 'SELECT max_id::text FROM leaf_alloc WHERE biz_tag = $1',
  },
};

export const clock = new SystemClock();

/** Generous limits, because a short pause of the machine must not fail a test. */
export const PATIENT = { connectMs: 60_000, queryMs: 60_000, closeMs: 60_000, connections: 8 };

export const FAILOVER: FailoverOptions = {
  gapSteps: 10,
  onFailover: (message) => {
    throw new Error(`nobody was promoted: ${message}`);
  },
};

function onCloseProblem(step: string, problem: string): void {
  throw new Error(`${step}: ${problem}`);
}

/** Not opened yet; do not modify. */
export function lazily(target: DatabaseTarget): LazyDatabase {
  return new LazyDatabase({ target, migrate: false, onCloseProblem, limits: PATIENT }, clock, systemRandom);
}

export function connect(target: DatabaseTarget, migrate = true): Promise<LeafDataSource> {
  return openDatabase({ target, migrate, firstTag: FIRST_TAG, onCloseProblem, limits: PATIENT }, clock, systemRandom);
}

/** With the time limits of a server. The tables exist. */
export function connectAsServer(target: DatabaseTarget): Promise<LeafDataSource> {
  const limits = { ...DEFAULT_LIMITS, closeMs: PATIENT.closeMs };
  return openDatabase({ target, migrate: false, onCloseProblem, limits }, clock, systemRandom);
}

export interface SingleDatabaseFixture extends TagStoreFixture {
  /** Runs a migration once more. */
  readonly migrateAgain: (name: string) => Promise<void>;
}

/** The stores of tags and segments of a new database without tags. */
export async function tagFixture(url: string, cleanUp: () => Promise<void>): Promise<SingleDatabaseFixture> {
  const target = parseDatabaseUrl(url);
  const dataSource = await connect(target);
  await dataSource.query('DELETE FROM leaf_alloc');
  return {
    tags: createTagStore(dataSource),
    segments: createSegmentStore(dataSource, FAILOVER),
    execute: (sql) => dataSource.query(sql),
    migrateAgain: async (name) => {
      await dataSource.query(`DELETE FROM leaf_migrations WHERE name = '${name}'`);
      await (await connect(target)).destroy();
    },
    close: async () => {
      await dataSource.destroy();
      await cleanUp();
    },
  };
}

/** A new database without tags. */
export async function databaseFixture(url: string, cleanUp: () => Promise<void>): Promise<DatabaseFixture> {
  const database = await connect(parseDatabaseUrl(url));
  await database.query('DELETE FROM leaf_alloc');
  return {
    database,
    close: async () => {
      await database.destroy();
      await cleanUp();
    },
  };
}

export interface SqlFixture extends SegmentStoreFixture {
  readonly execute: (sql: string) => Promise<unknown>;
}

/** Two connections to a new database without tags. */
export async function sqlFixture(url: string, cleanUp: () => Promise<void>): Promise<SqlFixture> {
  const target = parseDatabaseUrl(url);
  const { put, read } = STATEMENTS[target.dialect];
  const [first, second] = [await connect(target), await connect(target)];
  await first.query('DELETE FROM leaf_alloc');
  return {
    store: createSegmentStore(first, FAILOVER),
    second: createSegmentStore(second, FAILOVER),
    putRow: async (tag, maxId, step) => {
      await first.query(put, [tag, maxId, BigInt(step)]);
    },
    putDeleted: async (tag, nextId) => {
      const values = `'${tag}', ${nextId}, ${nextId}`;
      await first.query(`INSERT INTO leaf_deleted_tag (biz_tag, max_id, issue_limit) VALUES (${values})`);
    },
    execute: (sql) => first.query(sql),
    readMaxId: async (tag) => {
      const rows = await second.query<{ max_id: string }[]>(read, [tag]);
      return BigInt(rows[0]!.max_id);
    },
    close: async () => {
      await first.destroy();
      await second.destroy();
      await cleanUp();
    },
  };
}
