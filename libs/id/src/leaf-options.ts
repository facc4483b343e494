import type { DataSource } from 'typeorm';
import type { Instance, NewTag } from '@leaf-ids/core';
import type { RegistryOptions } from '@leaf-ids/registry';
import type { SegmentModuleOptions } from '@leaf-ids/segment';
import type { SnowflakeModuleOptions } from '@leaf-ids/snowflake';

export interface EmbeddedSnowflakeOptions extends Omit<SnowflakeModuleOptions, 'registry' | 'instance'> {
  /**
   * `database`, the default: a pool of workers in `database`, whatever kind that is. `mysql`: a row for each `ip:port`
   * there. Or the options of one of Leaf's registries, or of a store of your own.
   */
  readonly registry?: 'database' | 'mysql' | RegistryOptions;
  /**
   * How the registry knows this process; by default the first address of this host, and port 0. Two processes on one
   * host have to have different ports.
   */
  readonly instance?: Partial<Instance>;
}

export interface OpenDataSource {
  readonly dataSource: DataSource;
}

export interface CommonOptions<Database> {
  /** The URL of a database, or a data source of the application, by whose options Leaf opens connections of its own. */
  readonly database?: Database;
  /** Make and update the tables of Leaf at start; true by default. */
  readonly migrate?: boolean;
  /** Settings under which the database can lose a commit, accepted by their names: `['sync_binlog']`. */
  readonly accept?: readonly string[];
  /** Tags that are made at start where they are missing; a bare name begins at 1 with a step of 2000. */
  readonly tags?: readonly (string | NewTag)[];
  /** Settings of segment mode, which is on where there is a database; false: off. */
  readonly segment?: Partial<SegmentModuleOptions> | false;
  /** Left out: snowflake mode is off. */
  readonly snowflake?: EmbeddedSnowflakeOptions;
  /** Aborts a start under way: it rejects with the reason of the signal, and everything that was opened is closed. */
  readonly signal?: AbortSignal;
}

/** What a runtime is made of. */
export type LeafOptions = CommonOptions<string | OpenDataSource>;
