import type Libsql from 'libsql';
import { LeafError } from '@leaf/core';

/**
 * Loaded when it is first needed: who has another database can do without the package.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` when it is not installed
 */
export async function loadSqlite(): Promise<typeof Libsql> {
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
