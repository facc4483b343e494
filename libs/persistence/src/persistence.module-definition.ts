import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { ShardMap } from './sharding/shard-router';

interface CommonOptions {
  /** Bring the schema up to date at start. */
  readonly migrate: boolean;
  /**
   * Settings of the database that can lose a commit, and are accepted all the same, by their names; for example
   * `sync_binlog`.
   */
  readonly accept?: readonly string[];
  /** Steps by which every tag moves forward when a promoted replica is noticed; 10 by default, 0 is off. */
  readonly failoverGapSteps?: number;
}

export interface UrlPersistenceOptions extends CommonOptions {
  /** As `parseDatabaseUrl` reads it. */
  readonly url: string;
}

export interface ShardedPersistenceOptions extends CommonOptions {
  readonly shards: ShardMap;
}

export interface SharedPersistenceOptions extends CommonOptions {
  /**
   * On MySQL, MariaDB or PostgreSQL. Leaf reads its options, and opens two connections of its own to the same database;
   * nothing runs on those of the application.
   */
  readonly dataSource: DataSource;
}

/** One database, several with each tag in one of them, or the one of the application around. */
export type PersistenceModuleOptions = UrlPersistenceOptions | ShardedPersistenceOptions | SharedPersistenceOptions;

export const DEFAULT_FAILOVER_GAP_STEPS = 10;

/** Without options there is no database: an application may find out at its start that it needs none. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<
  PersistenceModuleOptions | undefined
>()
  .setClassMethodName('forRoot')
  .build();
