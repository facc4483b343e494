import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SystemClock, systemRandom } from '@leaf-ids/core';
import { createSegmentStore, createTagStore } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import { closeProblem } from './close-problem';
import { failoverOptions } from './failover-options';
import { LeafDataSource } from '../database/leaf-data-source';
import { lentTarget } from '../database/lent-database';
import { newDatabase } from '../database/new-database';
import { FIRST_TAG, openDatabase } from '../database/open-database';
import { Persistence } from './persistence';
import type { PersistenceModuleOptions } from './persistence.module-definition';
import { openSharded } from './open-sharded';

/**
 * The open data source of the one database that the options name. Several databases open theirs by themselves, since one
 * of them may be away at the start; for them, and without options, it is one that is never opened.
 *
 * @throws LeafError when it cannot be used
 */
export async function openDataSource(options: PersistenceModuleOptions | undefined): Promise<DataSource> {
  if (options === undefined || 'shards' in options) return unopened();
  const { migrate, accept = [], signal } = options;
  const logger = new Logger('Persistence');
  // An application has tags of its own.
  const source =
    'dataSource' in options
      ? { target: lentTarget(options.dataSource) }
      : { target: parseDatabaseUrl(options.url), firstTag: FIRST_TAG };
  return openDatabase(
    {
      ...{ ...source, migrate, accept, onCloseProblem: closeProblem(logger), ...(signal && { signal }) },
      onAccepted: (problem) => logger.warn(`Accepted: ${problem}`),
      onCreated: () => logger.log(newDatabase(source.target.description)),
      onRetry: (problem, waitMs) => {
        logger.warn(`The database cannot be used yet, next try in ${Math.round(waitMs)} ms: ${problem}`);
      },
    },
    new SystemClock(),
    systemRandom,
  );
}

/**
 * What is kept in the database that the options name; nothing when there are none.
 *
 * @param dataSource that of {@link openDataSource}; whoever has opened it destroys it
 * @throws LeafError when none of several databases can be used
 */
export async function openPersistence(
  options: PersistenceModuleOptions | undefined,
  dataSource: DataSource,
): Promise<Persistence | undefined> {
  if (options !== undefined && 'shards' in options) return openSharded(options);
  if (options === undefined || !(dataSource instanceof LeafDataSource)) return undefined;
  const segments = createSegmentStore(dataSource, failoverOptions(options, new Logger('Persistence')));
  return new Persistence(segments, createTagStore(dataSource));
}

/** TypeORM has none without a driver. */
function unopened(): DataSource {
  return new DataSource({ type: 'better-sqlite3', database: '', driver: {} });
}
