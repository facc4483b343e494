import type { DataSource } from 'typeorm';
import type { Instance } from '@leaf-ids/core';
import type { DeclaredTag } from '@leaf-ids/core/internal';
import type { RegistryOptions } from '@leaf-ids/registry';
import type { SegmentModuleOptions } from '../segment/segment-options';
import type { SnowflakeModuleOptions } from '../snowflake/snowflake-options';

export interface EmbeddedSnowflakeOptions extends Omit<SnowflakeModuleOptions, 'registry' | 'instance'> {
  /**
   * `database`, the default: a pool of workers in `database`, on any engine. `mysql`: one row for each `ip:port` there.
   * Or the options of one of Leaf's registries, or of a custom store.
   */
  readonly registry?: 'database' | 'mysql' | RegistryOptions;
  /**
   * The identity of this process in the registry; by default the first address of this host, and port 0. Two processes
   * on one host must have different ports.
   */
  readonly instance?: Partial<Instance>;
}

export interface OpenDataSource {
  readonly dataSource: DataSource;
}

export interface CommonOptions<Database> {
  /**
   * The URL of a database, or a data source of the application; Leaf opens its own connections with the same options.
   */
  readonly database?: Database;
  /** Create and update the tables of Leaf at start; true by default. */
  readonly migrate?: boolean;
  /** Names of database settings that can lose a commit and that you accept: `['sync_binlog']`. */
  readonly accept?: readonly string[];
  /** Tags to create at start if they do not exist; a bare name starts at 1 with a step of 2000. */
  readonly tags?: readonly (string | DeclaredTag)[];
  /** Settings of segment mode, which is enabled if a database is given; false disables it. */
  readonly segment?: Partial<SegmentModuleOptions> | false;
  /** Settings of snowflake mode, which is disabled by default. */
  readonly snowflake?: EmbeddedSnowflakeOptions;
  /** Aborts a start under way: it rejects with the reason of the signal, and everything that was opened is closed. */
  readonly signal?: AbortSignal;
}

/** The options of a {@link Leaf}. */
export type LeafOptions = CommonOptions<string | OpenDataSource>;
