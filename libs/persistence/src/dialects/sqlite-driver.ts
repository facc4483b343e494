import { missingDriver } from './server-driver';

/** The parts of a libsql database that Leaf uses; declared here because the package is optional. */
export interface SqliteConnection {
  exec(sql: string): unknown;
  pragma(text: string): unknown;
  prepare(sql: string): { all(): unknown[] };
  close(): unknown;
}

export type SqliteDriver = new (path: string, options?: { readonly timeout: number }) => SqliteConnection;

/**
 * Loads libsql. The import is lazy, because other engines do not need the package.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` when libsql does not load
 */
export async function loadSqlite(): Promise<SqliteDriver> {
  try {
    return (await import('libsql')).default;
  } catch (error) {
    throw missingDriver('libsql', 'SQLite files and the local worker registry need', error);
  }
}
