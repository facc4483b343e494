import {
  type BitLayoutOptions,
  DEFAULT_LAYOUT,
  DEFAULT_SNOWFLAKE_OPTIONS,
  type Instance,
  type SnowflakeOptions,
  type WorkerRegistry,
} from '@leaf-ids/core';
import type { RegistryOptions } from '@leaf-ids/registry';

/** What is left out has its default. */
export interface SnowflakeModuleOptions extends Partial<SnowflakeOptions> {
  readonly registry: RegistryOptions;
  /** How the registry knows this server. */
  readonly instance: Instance;
  readonly layout?: BitLayoutOptions;
  /** Time between two reports to the registry, in milliseconds; 3000 by default. */
  readonly reportMs?: number;
  /**
   * How far ahead of the clock time is reserved, in milliseconds; 10,000 by default, an hour with a pool of workers.
   */
  readonly horizonMs?: number;
  /**
   * Largest offset of the clock from those of the other servers at a start, in milliseconds; 5000 by default, 0: any.
   */
  readonly maxClockOffsetMs?: number;
  /** Time between two rounds of housekeeping in the registry, in milliseconds; 120,000 by default. */
  readonly maintainMs?: number;
  /**
   * Whether the start of the application waits for the worker ID, even for some seconds: in a new registry, or until
   * the time that a killed process had reserved has passed. True by default; false: IDs are refused meanwhile.
   */
  readonly waitForWorker?: boolean;
  /** Wraps the registry before the lease uses it, for example to trace its calls. */
  readonly wrapRegistry?: (registry: WorkerRegistry) => WorkerRegistry;
}

export const DEFAULT_SNOWFLAKE_MODULE_OPTIONS = {
  ...DEFAULT_SNOWFLAKE_OPTIONS,
  layout: DEFAULT_LAYOUT,
  reportMs: 3000,
  maxClockOffsetMs: 5000,
  maintainMs: 120_000,
  waitForWorker: true,
};
