import type { DataSource } from 'typeorm';
import { BitLayout, LeafError } from '@leaf-ids/core';
import { firstAddress } from '@leaf-ids/core/internal';
import type { PersistenceModuleOptions } from '@leaf-ids/persistence';
import { defaultHorizonMs, type RegistryModuleOptions, type RegistryOptions, STRATEGY_NAMES } from '@leaf-ids/registry';
import type { SegmentModuleOptions } from '@leaf-ids/segment';
import { DEFAULT_SNOWFLAKE_MODULE_OPTIONS, type SnowflakeModuleOptions } from '@leaf-ids/snowflake';
import type { EmbeddedSnowflakeOptions, LeafOptions } from './leaf-options';

type Source = { readonly url: string } | { readonly dataSource: DataSource };

/**
 * @returns undefined when segment mode is disabled
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function segmentOptions(options: LeafOptions): SegmentModuleOptions | undefined {
  const { segment, tags = [] } = options;
  if (segment !== false) {
    const source = sourceOf(options);
    const database = segment?.database ?? (source && { ...source, ...schemaOf(options) });
    if (database !== undefined) return { ...segment, database };
  }
  if (tags.length === 0 && (segment === undefined || segment === false)) return undefined;
  throw new LeafError('LEAF_CONFIG_INVALID', 'Segment mode needs a database. Set the option database of IdModule.');
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
    instance: { ip: firstAddress(), port: 0, ...snowflake.instance },
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

/** The options of the registry, derived from those of snowflake mode. */
export function registryOptions(given: SnowflakeModuleOptions): RegistryModuleOptions {
  const options = { ...DEFAULT_SNOWFLAKE_MODULE_OPTIONS, ...given };
  const { registry, reportMs, maxClockOffsetMs, horizonMs = defaultHorizonMs(registry) } = options;
  const { fingerprint, maxWorkerId } = new BitLayout(options.layout);
  return { registry, reportMs, maxClockOffsetMs, horizonMs, layout: fingerprint, maxWorkerId };
}

/** Checked at run time for callers without types. */
const IN_DATABASE: readonly string[] = ['database', 'mysql'];

function registryOf({ registry = 'database' }: EmbeddedSnowflakeOptions, options: LeafOptions): RegistryOptions {
  if (typeof registry !== 'string') return registry;
  if (!IN_DATABASE.includes(registry)) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      `Unknown worker registry ${JSON.stringify(registry)}: use 'database' or 'mysql', or the options of one of ${STRATEGY_NAMES.join(', ')}.`,
    );
  }
  const source = sourceOf(options);
  if (source !== undefined) {
    const opened = { ...schemaOf(options), ...source };
    return registry === 'mysql' ? { strategy: 'mysql', ...opened } : { strategy: 'database', ...opened };
  }
  throw new LeafError(
    'LEAF_CONFIG_INVALID',
    `The worker registry '${registry}' needs a database: give IdModule the option \`database\`.`,
  );
}

function schemaOf({ migrate = true, accept = [] }: LeafOptions): {
  migrate: boolean;
  accept: readonly string[];
} {
  return { migrate, accept };
}

function sourceOf({ database }: LeafOptions): Source | undefined {
  return typeof database === 'string' ? { url: database } : database;
}
