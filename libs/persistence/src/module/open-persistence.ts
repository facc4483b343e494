import { SystemClock, type SegmentStore, type TagStore } from '@leaf-ids/core';
import { type NumberStore, reasonOf, systemRandom, unlessAborted } from '@leaf-ids/core/internal';
import { createStores, createTagStore, IN_MEMORY, newDatabase, sealOf } from '../database/create-store';
import { parseDatabaseUrl, sharedTarget } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { openDatabase } from '../database/open-database';
import { ShardedNumberStore } from '../sharding/sharded-number-store';
import { Shard } from '../sharding/shard';
import { ShardedSegmentStore } from '../sharding/sharded-segment-store';
import { ShardedTagStore } from '../sharding/sharded-tag-store';
import { Shards, ShardRouter, misplaced } from '../sharding/shards';
import {
  closeProblem,
  failoverOptions,
  type PersistenceModuleOptions,
  type SharedPersistenceOptions,
  type ShardedPersistenceOptions,
  type UrlPersistenceOptions,
} from './persistence.module-definition';
import { type LeafLogger, loggerOf } from './leaf-logger';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { DataSource } from 'typeorm';

/** The stores on the database, which closes after the components that write to it at shutdown. */
export class Persistence implements OnApplicationShutdown {
  private stopUser: () => Promise<void> = () => Promise.resolve();

  /**
   * @param dataSource returns the open data source of a database, given by its name if there are several
   * @param close repeatable
   */
  constructor(
    readonly segments: SegmentStore,
    readonly tags: TagStore,
    readonly numbers: NumberStore,
    readonly dataSource: (name?: string) => DataSource | undefined,
    private readonly close: () => Promise<void>,
  ) {}

  /**
   * Stops a component before the database closes: up to version 10, Nest stops a module before those that import it.
   *
   * @param stop repeatable, and never rejects
   */
  closeAfter(stop: () => Promise<void>): void {
    this.stopUser = stop;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stopUser();
    await this.close();
  }
}

/**
 * Opens the configured database, or several, and creates the stores on it; undefined without options.
 *
 * @throws LeafError when the database, or every one of several, cannot be used
 */
export async function openPersistence(options: PersistenceModuleOptions | undefined): Promise<Persistence | undefined> {
  if (options === undefined) return undefined;
  if ('shards' in options) return openSharded(options);
  const dataSource = await openSingle(options);
  const failover = failoverOptions(options, loggerOf(options, 'Persistence'));
  const { segments, numbers } = createStores(dataSource, failover, options.numbers ?? {}, new SystemClock());
  const tags = createTagStore(dataSource);
  return new Persistence(
    segments,
    tags,
    numbers,
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
    new ShardedNumberStore(shards, sealOf(options.numbers ?? {})),
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
          numbers: options.numbers ?? {},
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
