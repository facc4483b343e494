import { SystemClock } from '@leaf-ids/core';
import { reasonOf, systemRandom, unlessAborted } from '@leaf-ids/core/internal';
import { createSegmentStore, createTagStore, IN_MEMORY, newDatabase } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
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
  type SharedPersistenceOptions,
  type ShardedPersistenceOptions,
  type UrlPersistenceOptions,
} from './persistence.module-definition';
import { type LeafLogger, loggerOf } from './leaf-logger';
import { Persistence } from './persistence';

/**
 * Opens the configured database, or several, and creates the stores on it; undefined without options.
 *
 * @throws LeafError when the database, or every one of several, cannot be used
 */
export async function openPersistence(options: PersistenceModuleOptions | undefined): Promise<Persistence | undefined> {
  if (options === undefined) return undefined;
  if ('shards' in options) return openSharded(options);
  const dataSource = await openSingle(options);
  const segments = createSegmentStore(dataSource, failoverOptions(options, loggerOf(options, 'Persistence')));
  const tags = createTagStore(dataSource);
  return new Persistence(
    segments,
    tags,
    (name) => (name === undefined ? dataSource : undefined),
    () => dataSource.destroy(),
  );
}

async function openSingle(options: UrlPersistenceOptions | SharedPersistenceOptions): Promise<LeafDataSource> {
  const { migrate, accept = [], firstTag, signal } = options;
  const logger = loggerOf(options, 'Persistence');
  const target = 'dataSource' in options ? sharedTarget(options.dataSource) : parseDatabaseUrl(options.url);
  const dataSource = await openDatabase(
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
  dataSource.makeReadOnly();
  return dataSource;
}

/**
 * Opens several databases and combines their segments into one store.
 *
 * @throws LeafError when none of them can be opened
 */
async function openSharded(options: ShardedPersistenceOptions): Promise<Persistence> {
  const logger = loggerOf(options, 'Persistence');
  const clock = new SystemClock();
  const shards = await openShards(options, logger, clock);
  const segments = new ShardedSegmentStore(shards, {
    onShardFailed: (name, error) =>
      logger.warn(`The tags of the database "${name}" could not be refreshed: ${reasonOf(error)}`),
    onMisplaced: (tag, name, owner) => logger.error(misplaced(tag, name, owner)),
  });
  return new Persistence(
    segments,
    new ShardedTagStore(shards),
    (name) => shards.all.find((shard) => shard.name === name)?.dataSource,
    () => shards.close(),
  );
}

async function openShards(options: ShardedPersistenceOptions, logger: LeafLogger, clock: SystemClock): Promise<Shards> {
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
