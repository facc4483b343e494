import { ConfigurableModuleBuilder } from '@nestjs/common';
import {
  type BitLayoutOptions,
  DEFAULT_LAYOUT,
  DEFAULT_SNOWFLAKE_OPTIONS,
  type Instance,
  type SnowflakeOptions,
  type WorkerRegistry,
} from '@leaf/core';
import type { RegistryModuleOptions } from '@leaf/registry';

/** What is left out has its default. */
export interface SnowflakeModuleOptions extends Partial<SnowflakeOptions> {
  readonly registry: RegistryModuleOptions;
  /** How the registry knows this server. */
  readonly instance: Instance;
  readonly layout?: BitLayoutOptions;
  /** Time between two reports to the registry, in milliseconds; 3000 by default. */
  readonly reportMs?: number;
  /** How far ahead of the clock time is reserved, in milliseconds; 10,000 by default. */
  readonly horizonMs?: number;
  /** How far the clock may be from those of the other servers at a start, in milliseconds; 5000 by default, 0: any. */
  readonly maxClockOffsetMs?: number;
  /** Time between two rounds of housekeeping in the registry, in milliseconds; 120,000 by default. */
  readonly maintainMs?: number;
  /** What stands between the lease and its registry, to watch it for example; left out: nothing. */
  readonly wrapRegistry?: (registry: WorkerRegistry) => WorkerRegistry;
}

export const DEFAULT_SNOWFLAKE_MODULE_OPTIONS = {
  ...DEFAULT_SNOWFLAKE_OPTIONS,
  layout: DEFAULT_LAYOUT,
  reportMs: 3000,
  horizonMs: 10_000,
  maxClockOffsetMs: 5000,
  maintainMs: 120_000,
};

/** A factory that returns undefined leaves the mode off. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, ASYNC_OPTIONS_TYPE } = new ConfigurableModuleBuilder<
  SnowflakeModuleOptions | undefined
>()
  .setClassMethodName('forRoot')
  .build();
