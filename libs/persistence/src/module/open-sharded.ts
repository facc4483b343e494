import { Logger } from '@nestjs/common';
import { SystemClock } from '@leaf-ids/core';
import { reasonOf, systemRandom, unlessAborted } from '@leaf-ids/core/internal';
import { parseDatabaseUrl } from '../database/database-url';
import { closeProblem } from './close-problem';
import { failoverOptions } from './failover-options';
import { newDatabase } from '../database/new-database';
import { Persistence } from './persistence';
import type { ShardedPersistenceOptions } from './persistence.module-definition';
import { Shard } from '../sharding/shard';
import { ShardRouter } from '../sharding/shard-router';
import { ShardedSegmentStore } from '../sharding/sharded-segment-store';
import { ShardedTagStore } from '../sharding/sharded-tag-store';
import { Shards } from '../sharding/shards';
import { misplaced } from '../sharding/tag-places';

/**
 * Opens several databases and combines their segments into one store.
 *
 * @throws LeafError when none of them can be opened
 */
export async function openSharded(options: ShardedPersistenceOptions): Promise<Persistence> {
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
