import type { DataSource } from 'typeorm';
import { firstAddress, LeafError } from '@leaf/core';
import { type RegistryOptions, STRATEGY_NAMES } from '@leaf/registry';
import type { SegmentModuleOptions } from '@leaf/segment';
import type { SnowflakeModuleOptions } from '@leaf/snowflake';
import type { EmbeddedSnowflakeOptions, IdModuleFactoryOptions } from './id.module-definition';

type Source = { readonly url: string } | { readonly dataSource: DataSource };

/**
 * @returns undefined when segment mode is off
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function segmentOptions(options: IdModuleFactoryOptions): SegmentModuleOptions | undefined {
  const { segment, tags = [] } = options;
  if (segment !== false) {
    const source = sourceOf(options);
    const database = segment?.database ?? (source && { ...source, ...schemaOf(options) });
    if (database !== undefined) return { ...segment, database };
  }
  if (tags.length === 0 && (segment === undefined || segment === false)) return undefined;
  throw new LeafError('LEAF_CONFIG_INVALID', 'Segments need a database: give IdModule the option `database`.');
}

/**
 * @returns undefined when snowflake mode is off
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function snowflakeOptions(options: IdModuleFactoryOptions): SnowflakeModuleOptions | undefined {
  const { snowflake } = options;
  if (snowflake === undefined) return undefined;
  return {
    ...snowflake,
    registry: registryOf(snowflake, options),
    instance: { ip: firstAddress(), port: 0, ...snowflake.instance },
  };
}

/** What a caller without types may have misspelt. */
const IN_DATABASE: readonly string[] = ['database', 'mysql'];

function registryOf(
  { registry = 'database' }: EmbeddedSnowflakeOptions,
  options: IdModuleFactoryOptions,
): RegistryOptions {
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

function schemaOf({ migrate = true, accept = [] }: IdModuleFactoryOptions): {
  migrate: boolean;
  accept: readonly string[];
} {
  return { migrate, accept };
}

function sourceOf({ database }: IdModuleFactoryOptions): Source | undefined {
  return typeof database === 'string' ? { url: database } : database;
}
