import {
  assertOptions,
  both,
  flag,
  INSTANCE_RULES,
  leaseFaults,
  list,
  newTagRule,
  object,
  oneOf,
  refuseFaults,
  required,
  type Rule,
  rule,
  type Rules,
  tagRule,
  textOr,
} from '@leaf-ids/core/internal';
import { acceptRule, databaseUrlRule, dataSourceRule, persistenceRule, signalRule } from '@leaf-ids/persistence';
import { registryRule, workerIdFaults } from '@leaf-ids/registry';
import { SEGMENT_MODULE_RULES, type SegmentModuleOptions } from '../segment/segment-options';
import {
  REGISTRY_MODULE_RULES,
  type RegistryModuleOptions,
  SNOWFLAKE_MODULE_RULES,
  type SnowflakeModuleOptions,
} from '../snowflake/snowflake-options';
import {
  type EmbeddedSnowflakeOptions,
  type LeafOptions,
  type OpenDataSource,
  registryOptions,
  segmentOptions,
  snowflakeOptions,
} from './mode-options';

const OPEN: Rules<OpenDataSource> = { dataSource: required(dataSourceRule) };

const SEGMENT: Rules<SegmentModuleOptions> = { ...SEGMENT_MODULE_RULES, database: persistenceRule };

const SNOWFLAKE: Rules<EmbeddedSnowflakeOptions> = {
  ...SNOWFLAKE_MODULE_RULES,
  registry: textOr(oneOf('database', 'mysql'), registryRule),
  instance: object(INSTANCE_RULES),
};

const OPTIONS: Rules<LeafOptions> = {
  database: textOr(
    databaseUrlRule,
    both(
      rule('a URL or { dataSource }', (value) => typeof value === 'object' && value !== null),
      object(OPEN),
    ),
  ),
  migrate: flag,
  accept: acceptRule,
  tags: list(textOr(tagRule, newTagRule)),
  segment: orFalse(object(SEGMENT)),
  snowflake: object(SNOWFLAKE),
  signal: signalRule,
};

/**
 * Checks the options of `subject`, a class or a module.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults
 */
export function assertLeafOptions(subject: string, options: LeafOptions): void {
  assertOptions(subject, object(OPTIONS), options);
  segmentOptions(options);
  const snowflake = snowflakeOptions(options);
  if (snowflake !== undefined) refuseFaults(subject, registryFaults(snowflake, 'snowflake.'));
}

/** @throws LeafError `LEAF_CONFIG_INVALID` for options that enable no mode */
export function assertAnyMode(subject: string, options: LeafOptions): void {
  if (segmentOptions(options) !== undefined || snowflakeOptions(options) !== undefined) return;
  const database = options.database === undefined ? ' database is undefined: is an environment variable not set?' : '';
  refuseFaults(subject, [
    `they enable neither segment mode nor snowflake mode.${database} Set database to a URL such as mysql://user:password@host:3306/database for segment IDs, snowflake for snowflake IDs, or both`,
  ]);
}

/** @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults */
export function assertSegmentOptions(options: SegmentModuleOptions): void {
  assertOptions('SegmentModule', object(SEGMENT_MODULE_RULES), options);
}

/** @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults */
export function assertSnowflakeOptions(options: SnowflakeModuleOptions): void {
  assertOptions('SnowflakeModule', object(SNOWFLAKE_MODULE_RULES), options);
  refuseFaults('SnowflakeModule', registryFaults(options));
}

/** @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults */
export function assertRegistryOptions(options: RegistryModuleOptions): void {
  assertOptions('RegistryModule', object(REGISTRY_MODULE_RULES), options);
  refuseFaults('RegistryModule', registryFaults(options));
}

/** The faults of options that have none by themselves. */
function registryFaults(given: RegistryModuleOptions, path = ''): string[] {
  const options = registryOptions(given);
  return [...leaseFaults(options, path), ...workerIdFaults(options.registry, options.maxWorkerId, `${path}registry`)];
}

function orFalse(each: Rule): Rule {
  return (value, name) => (value === false ? [] : each(value, name));
}
