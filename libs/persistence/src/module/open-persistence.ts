import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { createSegmentStore, createTagStore } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import { closeProblem } from './close-problem';
import { failoverOptions } from './failover-options';
import { LeafDataSource } from '../database/leaf-data-source';
import { sharedTarget } from '../database/shared-database';
import { IN_MEMORY, newDatabase } from '../database/new-database';
import { openDatabase } from '../database/open-database';
import { Persistence } from './persistence';
import type { PersistenceModuleOptions } from './persistence.module-definition';
import { openSharded } from './open-sharded';

/**
 * Opens the data source of a single database. With several databases or without options, it returns a placeholder that
 * is never opened: each shard opens its own data source, because one of them may be down at the start.
 *
 * @throws LeafError when the database cannot be used
 */
export async function openDataSource(options: PersistenceModuleOptions | undefined): Promise<DataSource> {
  if (options === undefined || 'shards' in options) return unopened();
  const { migrate, accept = [], firstTag, signal } = options;
  const logger = new Logger('Persistence');
  const target = 'dataSource' in options ? sharedTarget(options.dataSource) : parseDatabaseUrl(options.url);
  return openDatabase(
    {
      ...{ target, migrate, accept, onCloseProblem: closeProblem(logger) },
      ...{ ...(firstTag !== undefined && { firstTag }), ...(signal && { signal }) },
      onAccepted: (problem) => logger.warn(`Accepted: ${problem}`),
      onCreated: () => {
        if ('file' in target && target.file === undefined) logger.warn(IN_MEMORY);
        else logger.log(newDatabase(target.description));
      },
      onRetry: (problem, waitMs) => {
        logger.warn(
          `The database ${target.description} is not available yet; retrying in ${Math.round(waitMs)} ms: ${problem}`,
        );
      },
    },
    new SystemClock(),
    systemRandom,
  );
}

/**
 * Creates the stores of the configured database; undefined without options.
 *
 * @param dataSource from {@link openDataSource}; its opener destroys it
 * @throws LeafError when none of several databases can be used
 */
export async function openPersistence(
  options: PersistenceModuleOptions | undefined,
  dataSource: DataSource,
): Promise<Persistence | undefined> {
  if (options !== undefined && 'shards' in options) return openSharded(options);
  if (options === undefined || !(dataSource instanceof LeafDataSource)) return undefined;
  const segments = createSegmentStore(dataSource, failoverOptions(options, new Logger('Persistence')));
  const persistence = new Persistence(segments, createTagStore(dataSource));
  dataSource.beforeDestroy = () => persistence.onApplicationShutdown();
  return persistence;
}

/** TypeORM requires a driver, even for a data source that is never opened. */
function unopened(): DataSource {
  return new DataSource({ type: 'better-sqlite3', database: '', driver: {} });
}
