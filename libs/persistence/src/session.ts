import type { DataSource } from 'typeorm';
import { LeafError } from '@leaf/core';
import type { DatabaseTarget } from './database-url';

interface Session {
  readonly autocommit: unknown;
  readonly sql_mode: string;
}

/**
 * Makes sure that sessions commit what they are answered, and read text as it is written. Without the first, the IDs of an
 * allocation would come back with the rollback at the end of its session; without the second, a quote in a description
 * would end it, and what follows would be SQL.
 *
 * @throws LeafError `LEAF_DATABASE_UNUSABLE`
 */
export async function assertSession(
  dataSource: DataSource,
  { dialect, description }: Pick<DatabaseTarget, 'dialect' | 'description'>,
): Promise<void> {
  if (dialect !== 'mysql') return;
  const [session] = await dataSource.query<Session[]>('SELECT @@autocommit AS autocommit, @@sql_mode AS sql_mode');
  if (Number(session?.autocommit) !== 1) {
    throw new LeafError(
      'LEAF_DATABASE_UNUSABLE',
      `Sessions of ${description} begin with autocommit off: a rollback would give IDs a second time. Set autocommit=1 on the server, or take it out of init_connect.`,
    );
  }
  if (session?.sql_mode.split(',').includes('NO_BACKSLASH_ESCAPES') === true) {
    throw new LeafError(
      'LEAF_DATABASE_UNUSABLE',
      `Sessions of ${description} begin with the SQL mode NO_BACKSLASH_ESCAPES, in which the driver cannot write text safely. Take it out of sql_mode on the server, or for the sessions of the application.`,
    );
  }
}
