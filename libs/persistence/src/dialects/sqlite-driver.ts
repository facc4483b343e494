import { LeafError } from '@leaf-ids/core';

/** What is used of a database file of libsql; named here, so that types need no package that may be missing. */
export interface SqliteConnection {
  exec(sql: string): unknown;
  pragma(text: string): unknown;
  prepare(sql: string): { all(): unknown[] };
  close(): unknown;
}

export type SqliteDriver = new (path: string, options?: { readonly timeout: number }) => SqliteConnection;

/**
 * Loaded when it is first needed: who has another database can do without the package.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` when it is not installed
 */
export async function loadSqlite(): Promise<SqliteDriver> {
  try {
    return (await import('libsql')).default;
  } catch (error) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      'SQLite files and the local worker registry need the package libsql: npm install libsql.',
      { cause: error },
    );
  }
}
