import type { DataSource } from 'typeorm';
import { LeafError } from '@leaf/core';
import type { DatabaseTarget } from './database-url';

/**
 * Makes sure that sessions commit what they are answered. Where they do not, the IDs of an allocation would come back with
 * the rollback at the end of its session.
 *
 * @throws LeafError `LEAF_DATABASE_UNUSABLE`
 */
export async function assertAutocommit(
  dataSource: DataSource,
  { dialect, description }: Pick<DatabaseTarget, 'dialect' | 'description'>,
): Promise<void> {
  if (dialect !== 'mysql') return;
  const [row] = await dataSource.query<{ readonly autocommit: unknown }[]>('SELECT @@autocommit AS autocommit');
  if (Number(row?.autocommit) === 1) return;
  throw new LeafError(
    'LEAF_DATABASE_UNUSABLE',
    `Sessions of ${description} begin with autocommit off: a rollback would give IDs a second time. Set autocommit=1 on the server, or take it out of init_connect.`,
  );
}
