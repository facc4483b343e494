import { mkdir } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { LeafError } from '@leaf-ids/core';
import { codeOf, messageOf } from '@leaf-ids/core/internal';
import { FAULT, faultsBy } from '../../connections/database-faults';
import type { SessionDialect } from '../../connections/session';
import { inTransaction, MIGRATIONS_TABLE } from '../../schema/migrate';
import type { SchemaDialect } from '../../schema/schema-dialect';
import type { Dialect, FileAddress } from '../shared/dialect';
import {
  onePath,
  pathFault,
  provideDatabaseFile,
  SqliteFiles,
  loadSqlite,
  type SqliteConnection,
  type SqliteDriver,
} from './sqlite-file';
import { SqliteSegmentStore } from './sqlite-segment-store';
import { invalidUrl } from '../shared/url-parameters';
import { STANDARD_TAGS, type TagDialect, unchanged } from '../../stores/tag-dialect';
import type { WorkerDialect, Written } from '../../stores/worker-row';
import type { GuardDialect } from '../../failover/failover-guard';

/**
 * Busy timeout of SQLite, in milliseconds. It blocks the thread, so longer waits happen in `SqlDatabase`.
 */
const WAIT_MS = 5;
const BUSY = { again: 'soon', busy: true, hint: 'another process is writing to the file' } as const;

const SESSION: SessionDialect = {
  begin: () => Promise.resolve([]),
  durabilitySettings: [],
  isFile: true,
  faultOf: faultsBy({
    SQLITE_BUSY: BUSY,
    SQLITE_BUSY_SNAPSHOT: BUSY,
    SQLITE_FULL: FAULT.full,
    SQLITE_READONLY: { again: 'later', byHand: true, hint: 'this user cannot write to the database file' },
  }),
  ofStatement: /^SQLITE_/,
  isNotUpYet: isBusy,
};

const SCHEMA: SchemaDialect = {
  type: 'better-sqlite3',
  columns: 'SELECT name, LOWER(type) AS type FROM pragma_table_info(?)',
  // Every type with INT in its name has integer affinity.
  holds: (type) => type.includes('int'),
  isTransactional: true,
  createMigrationsTable: `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (
  id integer PRIMARY KEY AUTOINCREMENT NOT NULL,
  timestamp bigint NOT NULL,
  name varchar(255) NOT NULL UNIQUE
)`,
  alone: (runner, work) =>
    inTransaction(runner, async () => {
      // Any write as the first statement: a transaction that begins with a read cannot write once another process has.
      await runner.query('PRAGMA user_version = 0');
      await work();
    }),
};

const IN_MEMORY = ':memory:';

/** A file has no replicas: the record shows whether the file was replaced by an older one. */
export const SQLITE_GUARD: GuardDialect = {
  askIdentity: () => Promise.resolve({ server: 'sqlite', expression: "'sqlite'" }),
  insertRecord:
    'INSERT INTO leaf_segment_server (id, server, largest_step) VALUES (1, ?, ?) ON CONFLICT (id) DO NOTHING',
  lockRecord: 'SELECT server, generation FROM leaf_segment_server WHERE id = 1',
  database: "(SELECT file FROM pragma_database_list WHERE name = 'main')",
};

export const SQLITE_TAGS: TagDialect = {
  ...STANDARD_TAGS,
  text: unchanged,
  decimal: (value) => `CAST(CAST(${value} AS INTEGER) AS TEXT)`,
  textOf: (value) => `CAST(${value} AS TEXT)`,
  updated: "CAST(strftime('%s', update_time) AS INTEGER)",
  now: "CAST(strftime('%s', 'now') AS INTEGER)",
  number: '?',
  greatest: 'MAX',
  least: 'MIN',
  forUpdate: '',
  rememberDeleted: `INSERT INTO leaf_deleted_tag (biz_tag, max_id, issue_limit) VALUES (?, ?, ?)
    ON CONFLICT (biz_tag) DO UPDATE SET max_id = MAX(max_id, EXCLUDED.max_id)`,
};

export const SQLITE_WORKERS: WorkerDialect = {
  text: unchanged,
  askOrigin: () => Promise.resolve("'sqlite'"),
  isOrigin: (origin) => `${origin} = ?`,
  integer: '?',
  insert: 'INSERT OR IGNORE',
  onConflict: '',
  write: async (access, { sql, parameters, key }) => {
    const rows = await access.run<Written[]>(`${sql} RETURNING ${key} AS written`, [...parameters]);
    return rows.map(({ written }) => written);
  },
  zeroIsNext: false,
  raiseNumbering: undefined,
  now: undefined,
};

/** A SQLite file, or a database in memory, opened by libsql. */
export const sqlite: Dialect<FileAddress> = {
  schemes: ['sqlite'],
  example: 'sqlite:<file>',
  parse: (url) => {
    if (url.toLowerCase() === `sqlite:${IN_MEMORY}`) return { file: undefined, description: `${url} (nothing lasts)` };
    const given = /^sqlite:(?:\/\/(?=\/))?([^:].*)$/.exec(url)?.[1];
    if (given === undefined) throw invalidUrl('must be sqlite:<file> with the path of a file');
    const file = onePath(isAbsolute(given) ? given : resolve(given));
    return { file, description: `sqlite:${file}` };
  },
  driver: {
    options: async ({ file }, common, { queryMs }) => ({
      ...common,
      type: 'better-sqlite3',
      driver: callable(await loadSqlite(), file),
      database: file ?? IN_MEMORY,
      timeout: queryMs,
      prepareDatabase,
    }),
    lends: [],
    shared: ({ type }) => {
      throw new Error(`${type} cannot be shared`);
    },
    prepare: async ({ file }) => {
      if (file === undefined) return;
      await makeDirectory(dirname(file));
      await provideDatabaseFile(file);
    },
    // Migrations may block the thread; requests must not.
    opened: async (dataSource) => {
      const { database } = dataSource.options;
      const fault = typeof database !== 'string' || database === IN_MEMORY ? undefined : pathFault(database);
      if (fault !== undefined) throw new Error(fault);
      await dataSource.query(`PRAGMA busy_timeout = ${WAIT_MS}`);
    },
    advice: (error) => {
      const code = codeOf(error);
      if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT' || /damaged|malformed/.test(messageOf(error))) {
        return 'Nothing was changed. Restore the file from a backup. Without a backup, move the file away, start the server, and raise max_id of every tag above the highest ID in use.';
      }
      if (isBusy(error)) return 'Another process has locked the file; stop it or wait until it has finished.';
      return 'Check that the disk is writable and has free space, and that this user can write to the file and its directory. Or set another file in the option database.';
    },
  },
  session: SESSION,
  schema: SCHEMA,
  guard: SQLITE_GUARD,
  segments: (access, guard) => new SqliteSegmentStore(access, guard, SQLITE_TAGS),
  tags: SQLITE_TAGS,
  workers: SQLITE_WORKERS,
};

/** TypeORM 0.3 calls its driver without `new`, TypeORM 1 with it. */
function callable(
  Driver: SqliteDriver,
  file: string | undefined,
): (...args: ConstructorParameters<SqliteDriver>) => SqliteConnection {
  return function open(...args) {
    const connection = new Driver(...args);
    if (file === undefined) return connection;
    const files = new SqliteFiles(file);
    return Object.assign(connection, { assertInPlace: () => files.assertInPlace() });
  };
}

function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') === true;
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw new LeafError(
      'LEAF_DATA_DIR_UNUSABLE',
      `The directory ${path} cannot be created: ${messageOf(error)}. Create it for this user, or set another one in the option database.`,
      { cause: error },
    );
  }
}

/** WAL with a synced log: commits survive a kill and a power failure. */
function prepareDatabase(database: SqliteConnection): void {
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  const [check] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[];
  if (check?.quick_check !== 'ok') throw new Error(`file is damaged: ${check?.quick_check ?? 'no result'}`);
}
