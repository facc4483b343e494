import { type DynamicModule, Inject, Injectable, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { reasonOf, Releasers, SegmentStore, SystemClock, systemRandom, TagStore } from '@leaf/core';
import { parseDatabaseUrl } from '../database-url';
import { FIRST_TAG } from '../open-database';
import { DEFAULT_FAILOVER_GAP_STEPS } from '../persistence.module-definition';
import { Shard } from './shard';
import { type ShardMap, ShardRouter } from './shard-router';
import { ShardedSegmentStore } from './sharded-segment-store';
import { ShardedTagStore } from './sharded-tag-store';
import { Shards } from './shards';

export interface ShardedPersistenceModuleOptions {
  readonly shards: ShardMap;
  /** Bring the schema of each up to date. */
  readonly migrate: boolean;
  /** Steps by which every tag of a database moves forward when a promoted replica is noticed; 10 by default. */
  readonly failoverGapSteps?: number;
}

/** Closes the databases after those who still want to write to them. */
@Injectable()
class ShardsShutdown implements OnApplicationShutdown {
  constructor(
    @Inject(Shards) private readonly shards: Shards,
    @Inject(Releasers) private readonly users: Releasers,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.users.releaseAll();
    await this.shards.close();
  }
}

/** The segments of several databases, as if they were in one. */
@Module({})
export class ShardedPersistenceModule {
  static forRoot(options: ShardedPersistenceModuleOptions): DynamicModule {
    const logger = new Logger('Persistence');
    const clock = new SystemClock();
    return {
      module: ShardedPersistenceModule,
      providers: [
        { provide: Shards, useFactory: () => openShards(options, logger, clock) },
        { provide: Releasers, useFactory: () => new Releasers(clock, closeProblem(logger)) },
        {
          provide: SegmentStore,
          useFactory: (shards: Shards) =>
            new ShardedSegmentStore(shards, {
              onShardFailed: (name, error) => logger.warn(`The tags of "${name}" stay as they are: ${reasonOf(error)}`),
              onMisplaced: (tag, name, owner) => {
                logger.error(
                  `Tag "${tag}" belongs to the database "${owner}", but has a row in "${name}": it gives no IDs from there. Move the row over, or name "${name}" for this tag in LEAF_DATABASE_TAGS.`,
                );
              },
            }),
          inject: [Shards],
        },
        { provide: TagStore, useFactory: (shards: Shards) => new ShardedTagStore(shards), inject: [Shards] },
        ShardsShutdown,
      ],
      exports: [SegmentStore, TagStore, Releasers],
    };
  }
}

async function openShards(
  { shards: { databases, tags }, migrate, failoverGapSteps }: ShardedPersistenceModuleOptions,
  logger: Logger,
  clock: SystemClock,
): Promise<Shards> {
  const failover = {
    gapSteps: failoverGapSteps ?? DEFAULT_FAILOVER_GAP_STEPS,
    onFailover: (message: string) => logger.warn(message),
  };
  const router = new ShardRouter(Object.keys(databases), tags ?? {});
  const all = Object.entries(databases).map(
    ([name, url]) =>
      new Shard(
        {
          name,
          target: parseDatabaseUrl(url),
          migrate,
          ...(router.shardOf(FIRST_TAG) === name ? { firstTag: FIRST_TAG } : {}),
          failover,
          onCloseProblem: closeProblem(logger),
          onOpenFailed: (error) => logger.error(`The database "${name}" is tried again: ${reasonOf(error)}`),
        },
        clock,
        systemRandom,
      ),
  );
  const shards = new Shards(all, router, clock);
  try {
    await shards.start();
  } catch (error) {
    await shards.close();
    throw error;
  }
  return shards;
}

function closeProblem(logger: Logger): (step: string, problem: string) => void {
  return (step, problem) => logger.error(`Stop: ${step}: ${problem}`);
}
