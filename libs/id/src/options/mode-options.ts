import type { DataSource } from 'typeorm';
import { BitLayout, type Instance, LeafError } from '@leaf-ids/core';
import { type DeclaredTag, firstAddress, withDefaults } from '@leaf-ids/core/internal';
import type { PersistenceModuleOptions } from '@leaf-ids/persistence';
import { defaultLease, type LeasedRegistryOptions, type RegistryOptions } from '@leaf-ids/registry';
import type { SegmentModuleOptions } from '../segment/segment-options';
import {
  DEFAULT_SNOWFLAKE_MODULE_OPTIONS,
  type RegistryModuleOptions,
  type SnowflakeModuleOptions,
} from '../snowflake/snowflake-options';

type Source = { readonly url: string } | { readonly dataSource: DataSource };

/**
 * @returns undefined when segment mode is disabled
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function segmentOptions(options: LeafOptions): SegmentModuleOptions | undefined {
  const { database, segment, tags = [] } = options;
  if (segment === false) {
    if (tags.length > 0) throw invalid('tags needs segment mode, and the option segment is false');
    return undefined;
  }
  if (segment?.database !== undefined) return { ...segment, database: segment.database };
  if (database === undefined && segment === undefined && tags.length === 0) return undefined;
  return { ...segment, database: { ...sourceOf(options), ...schemaOf(options) } };
}

/**
 * @returns undefined when snowflake mode is disabled
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function snowflakeOptions(options: LeafOptions): SnowflakeModuleOptions | undefined {
  const { snowflake } = options;
  if (snowflake === undefined) return undefined;
  return {
    ...snowflake,
    registry: registryOf(snowflake, options),
    instance: withDefaults({ ip: firstAddress(), port: 0 }, snowflake.instance ?? {}),
  };
}

/** The options of the segment database; undefined when segment mode is disabled. */
export function persistenceOptions(options: LeafOptions): PersistenceModuleOptions | undefined {
  const segment = segmentOptions(options);
  if (segment === undefined) return undefined;
  const { database, maxStep } = segment;
  const { signal } = options;
  return { ...database, ...(maxStep === undefined ? {} : { maxStep }), ...(signal && { signal }) };
}

/** The options of the registry, with the defaults of snowflake mode. */
export function registryOptions(given: RegistryModuleOptions): LeasedRegistryOptions {
  const options = withDefaults(DEFAULT_SNOWFLAKE_MODULE_OPTIONS, given);
  const { registry, maxClockOffsetMs } = options;
  const lease = defaultLease(registry);
  const { reportMs = lease.reportMs, horizonMs = lease.horizonMs } = options;
  const { fingerprint, maxWorkerId } = new BitLayout(options.layout);
  return { registry, reportMs, maxClockOffsetMs, horizonMs, layout: fingerprint, maxWorkerId };
}

function registryOf({ registry = 'database' }: EmbeddedSnowflakeOptions, options: LeafOptions): RegistryOptions {
  if (typeof registry !== 'string') return registry;
  const opened = { ...schemaOf(options), ...sourceOf(options) };
  return registry === 'mysql' ? { strategy: 'mysql', ...opened } : { strategy: 'database', ...opened };
}

function schemaOf({ migrate = true, accept = [] }: LeafOptions): {
  migrate: boolean;
  accept: readonly string[];
} {
  return { migrate, accept };
}

function sourceOf({ database }: LeafOptions): Source {
  if (database === undefined) {
    throw invalid('database is required by segment mode, and by the worker registries "database" and "mysql"');
  }
  return typeof database === 'string' ? { url: database } : database;
}

function invalid(fault: string): LeafError {
  return new LeafError('LEAF_CONFIG_INVALID', `The option ${fault}.`);
}

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
