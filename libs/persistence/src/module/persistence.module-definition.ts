import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { ShardMap } from '../sharding/shard-router';

export interface CommonOptions {
  /** Bring the schema up to date at start. */
  readonly migrate: boolean;
  /**
   * Settings of the database that can lose a commit, and are accepted all the same, by their names; for example
   * `sync_binlog`.
   */
  readonly accept?: readonly string[];
  /** Lost allocations of a tag that are covered when a promoted replica is noticed; 10 by default, 0 is off. */
  readonly failoverGapSteps?: number;
  /** The largest dynamic step of the servers, by which that gap is measured; that of `DEFAULT_SEGMENT_OPTIONS` when left out. */
  readonly maxStep?: number;
  /** Aborts a start under way: connections that are being made are closed. */
  readonly signal?: AbortSignal;
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
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, ASYNC_OPTIONS_TYPE } = new ConfigurableModuleBuilder<
  PersistenceModuleOptions | undefined
>()
  .setClassMethodName('forRoot')
  .build();
