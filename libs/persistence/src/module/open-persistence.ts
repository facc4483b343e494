import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SystemClock } from '@leaf-ids/core';
import { reasonOf, systemRandom, unlessAborted } from '@leaf-ids/core/internal';
import { createSegmentStore, createTagStore, IN_MEMORY, newDatabase } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import { LeafDataSource } from '../database/leaf-data-source';
import { sharedTarget } from '../database/shared-database';
import { openDatabase } from '../database/open-database';
import { Shard } from '../sharding/shard';
import { ShardRouter } from '../sharding/shard-router';
import { ShardedSegmentStore } from '../sharding/sharded-segment-store';
import { ShardedTagStore } from '../sharding/sharded-tag-store';
import { Shards } from '../sharding/shards';
import { misplaced } from '../sharding/tag-places';
import {
  closeProblem,
  failoverOptions,
  type PersistenceModuleOptions,
  type ShardedPersistenceOptions,
} from './persistence.module-definition';
import { Persistence } from './persistence';

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

/**
 * Opens several databases and combines their segments into one store.
 *
 * @throws LeafError when none of them can be opened
 */
async function openSharded(options: ShardedPersistenceOptions): Promise<Persistence> {
  const logger = new Logger('Persistence');
  const clock = new SystemClock();
  const shards = await openShards(options, logger, clock);
  const segments = new ShardedSegmentStore(shards, {
    onShardFailed: (name, error) =>
      logger.warn(`The tags of the database "${name}" could not be refreshed: ${reasonOf(error)}`),
    onMisplaced: (tag, name, owner) => logger.error(misplaced(tag, name, owner)),
  });
  return new Persistence(segments, new ShardedTagStore(shards), () => shards.close());
}

async function openShards(options: ShardedPersistenceOptions, logger: Logger, clock: SystemClock): Promise<Shards> {
  const { migrate, accept = [] } = options;
  const { databases, tags } = options.shards;
  const failover = failoverOptions(options, logger);
  const router = new ShardRouter(Object.keys(databases), tags ?? {});
  const all = Object.entries(databases).map(
    ([name, url]) =>
      new Shard(
        {
          name,
          target: parseDatabaseUrl(url),
          migrate,
          accept,
          onAccepted: (problem) => logger.warn(`Accepted for the database "${name}": ${problem}`),
          onCreated: () => logger.warn(newDatabase(`"${name}"`)),
          failover,
          onCloseProblem: closeProblem(logger),
          onRetry: (problem, waitMs) => {
            logger.warn(
              `The database "${name}" is not available yet; retrying in ${Math.round(waitMs)} ms: ${problem}`,
            );
          },
          onOpenFailed: (error) =>
            logger.error(`The database "${name}" could not be opened and is retried: ${reasonOf(error)}`),
        },
        clock,
        systemRandom,
      ),
  );
  const shards = new Shards(all, router, clock, (fault) => logger.error(fault), options.firstTag);
  try {
    await unlessAborted(shards.start(), options.signal);
  } catch (error) {
    await shards.close();
    throw error;
  }
  return shards;
}
