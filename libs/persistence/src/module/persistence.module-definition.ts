import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import {
  accepted,
  both,
  exactlyOne,
  flag,
  having,
  list,
  object,
  oneOf,
  pathOf,
  record,
  required,
  rule,
  type Rules,
  tagRule,
  text,
  whole,
} from '@leaf-ids/core/internal';
import { parseDatabaseUrl, sharedTarget } from '../database/database-url';
import type { NumberOptions } from '../database/create-store';
import { DURABILITY_SETTINGS } from '../dialects/dialects';
import type { ShardMap } from '../sharding/shards';
import { DEFAULT_FAILOVER_GAP_STEPS, type FailoverOptions } from '../failover/failover-guard';
import { type LeafLogger, type LoggerOption, loggerRule } from './leaf-logger';

interface CommonOptions extends LoggerOption {
  /** Run pending migrations at start. */
  readonly migrate: boolean;
  /** Tag to create in a new, empty database; none by default. */
  readonly firstTag?: string;
  /**
   * Names of database settings that can lose a commit and that you accept; for example `sync_binlog`.
   */
  readonly accept?: readonly string[];
  /** Number of lost allocations of a tag that a failover covers; 10 by default, 0 disables the guard. */
  readonly failoverGapSteps?: number;
  /**
   * The largest dynamic step of the servers, used to compute that gap; the default is that of
   * `DEFAULT_SEGMENT_OPTIONS`.
   */
  readonly maxStep?: number;
  /** How gapless numbers are kept. */
  readonly numbers?: NumberOptions;
  /** Aborts a start under way: connections that are being made are closed. */
  readonly signal?: AbortSignal;
}

export interface UrlPersistenceOptions extends CommonOptions {
  /** URL in the format of `parseDatabaseUrl`. */
  readonly url: string;
}

export interface ShardedPersistenceOptions extends CommonOptions {
  readonly shards: ShardMap;
}

export interface SharedPersistenceOptions extends CommonOptions {
  /**
   * A data source on MySQL, MariaDB or PostgreSQL. Leaf opens two connections of its own with the same options, and
   * never uses those of the application.
   */
  readonly dataSource: DataSource;
}

/** One database, several databases with each tag in one of them, or the database of the application. */
export type PersistenceModuleOptions = UrlPersistenceOptions | ShardedPersistenceOptions | SharedPersistenceOptions;

export const databaseUrlRule = both(text, accepted(parseDatabaseUrl));

export const dataSourceRule = both(having('initialize', 'a DataSource'), accepted(sharedTarget));

/** Rule for an option that accepts unsafe database settings by name. */
export const acceptRule = list(oneOf(...DURABILITY_SETTINGS));

export const signalRule = having('throwIfAborted', 'an AbortSignal');

const SHARDS: Rules<ShardMap> = { databases: required(record(databaseUrlRule)), tags: record(text) };

const shardsRule = both(object(SHARDS), (value, path) => {
  const { databases, tags = {} } = value as ShardMap;
  const unknown = Object.values(tags).find((name) => !Object.hasOwn(databases, name));
  if (unknown === undefined) return [];
  const fault = `names "${unknown}", which is not one of the databases ${Object.keys(databases).join(', ')}`;
  return [{ path: pathOf(path, 'tags'), fault }];
});

const NUMBERS: Rules<NumberOptions> = {
  key: rule('a secret of at least 16 characters', (value) => typeof value === 'string' && value.length >= 16),
  sync: flag,
};

const RULES: Rules<PersistenceModuleOptions> = {
  url: databaseUrlRule,
  shards: shardsRule,
  dataSource: dataSourceRule,
  migrate: required(flag),
  accept: acceptRule,
  firstTag: tagRule,
  failoverGapSteps: whole(0),
  maxStep: whole(1),
  numbers: object(NUMBERS),
  signal: signalRule,
  logger: loggerRule,
};

/** The rule of {@link PersistenceModuleOptions}. */
export const persistenceRule = both(object(RULES), exactlyOne('url', 'shards', 'dataSource'));

/**
 * A factory may return undefined for no database. Transient: Nest 10 takes modules for the same one when their functions
 * have the same source text.
 */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, ASYNC_OPTIONS_TYPE } = new ConfigurableModuleBuilder<
  PersistenceModuleOptions | undefined
>({ alwaysTransient: true })
  .setClassMethodName('forRoot')
  .build();

/** Logs problems while resources are closed. */
export function closeProblem(logger: LeafLogger): (step: string, problem: string) => void {
  return (step, problem) => logger.error(`Stop: ${step}: ${problem}`);
}

/** Maps the options of the module to those of the guard, which logs a warning at a failover. */
export function failoverOptions({ failoverGapSteps, maxStep }: CommonOptions, logger: LeafLogger): FailoverOptions {
  return {
    gapSteps: failoverGapSteps ?? DEFAULT_FAILOVER_GAP_STEPS,
    ...(maxStep === undefined ? {} : { maxStep }),
    onFailover: (message) => logger.warn(message),
  };
}
