import { BitLayout, type BitLayoutOptions, DEFAULT_LAYOUT, type Instance, type WorkerRegistry } from '@leaf-ids/core';
import {
  both,
  callback,
  DEFAULT_SNOWFLAKE_OPTIONS,
  type Fault,
  flag,
  formatWorkerRange,
  INSTANCE_RULES,
  layoutRule,
  LEASE_RULES,
  milliseconds,
  object,
  parseWorkerRange,
  pathOf,
  required,
  type Rule,
  type Rules,
  SNOWFLAKE_RULES,
  type SnowflakeOptions,
  type StepLog,
  stepLogRule,
  whole,
  withDefaults,
  type WorkerRange,
  workerRangeRule,
  workersOfDatacenter,
} from '@leaf-ids/core/internal';
import { type LoggerOption, loggerRule } from '@leaf-ids/persistence';
import {
  type LeasedRegistryOptions,
  registryFaults,
  type RegistryOptions,
  registryRule,
  strategyOf,
} from '@leaf-ids/registry';

/** A worker registry, with the settings that all its servers share. Omitted options have their defaults. */
export interface RegistryModuleOptions extends LoggerOption {
  readonly registry: RegistryOptions;
  readonly layout?: BitLayoutOptions;
  /**
   * The first and the last worker ID that this server may have and hand out: `96-127`; by default all of the layout.
   * Servers of one registry may have different ranges. For pools, and for `local`, whose map must agree.
   */
  readonly workers?: string;
  /** The number of a data center, whose worker IDs are the range; needs a layout with data center bits. */
  readonly datacenter?: number;
  /** Time between two reports to the registry, in milliseconds; by default 3000, with Kubernetes 10,000. */
  readonly reportMs?: number;
  /** How far ahead of the clock to reserve time, in milliseconds; by default 10,000, in a pool one hour, with Kubernetes 60,000. */
  readonly leaseTtlMs?: number;
  /** @deprecated The earlier name of `leaseTtlMs`, which has precedence. */
  readonly horizonMs?: number;
  /**
   * Maximum offset of the clock from those of other servers at a start, in milliseconds; 5000 by default, 0 disables
   * the comparison.
   */
  readonly maxClockOffsetMs?: number;
  /** Records what this process does with its worker ID, for tests. */
  readonly stepLog?: StepLog;
}

/** Omitted options have their defaults. */
export interface SnowflakeModuleOptions extends RegistryModuleOptions, Partial<SnowflakeOptions> {
  /** Identifies this server in the registry. */
  readonly instance: Instance;
  /** Time between two maintenance runs of the registry, in milliseconds; 120,000 by default. */
  readonly maintainMs?: number;
  /** Largest number of worker windows at the same time, 768 by default; never more than three quarters of the worker IDs. */
  readonly mostWindows?: number;
  /**
   * Whether the start of the application waits for the worker ID. That can take seconds: in a new registry, or until
   * the reserved time of a killed process has passed. True by default; if false, IDs are refused until then.
   */
  readonly waitForWorker?: boolean;
  /** Wraps the registry before the lease uses it, for example to trace its calls. */
  readonly wrapRegistry?: (registry: WorkerRegistry) => WorkerRegistry;
}

export const DEFAULT_SNOWFLAKE_MODULE_OPTIONS = {
  ...DEFAULT_SNOWFLAKE_OPTIONS,
  layout: DEFAULT_LAYOUT,
  maxClockOffsetMs: 5000,
  maintainMs: 120_000,
  mostWindows: 768,
  waitForWorker: true,
};

/** The options of the registry, with the defaults of snowflake mode. */
export function registryOptions(given: RegistryModuleOptions): LeasedRegistryOptions {
  const options = withDefaults(DEFAULT_SNOWFLAKE_MODULE_OPTIONS, given);
  const { registry, maxClockOffsetMs, logger, stepLog } = options;
  const { lease } = strategyOf(registry);
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the alias itself
  const { reportMs = lease.reportMs, leaseTtlMs = options.horizonMs ?? lease.leaseTtlMs } = options;
  const { fingerprint, maxWorkerId } = new BitLayout(options.layout);
  const settings = { registry, reportMs, maxClockOffsetMs, leaseTtlMs, layout: fingerprint, maxWorkerId };
  const workers = workerRangeOf(given);
  return { ...settings, ...(workers && { workers }), ...(logger && { logger }), ...(stepLog && { stepLog }) };
}

/** The worker IDs that a server may have; undefined if there is no limit. The options have no faults. */
export function workerRangeOf({
  workers,
  datacenter,
  layout = DEFAULT_LAYOUT,
}: Omit<RegistryModuleOptions, 'registry'>): WorkerRange | undefined {
  if (datacenter !== undefined) return workersOfDatacenter(datacenter, layout);
  return workers === undefined ? undefined : parseWorkerRange(workers);
}

const INSTANCE: Rules<Instance> = { ip: required(INSTANCE_RULES.ip), port: required(INSTANCE_RULES.port) };

const REGISTRY_MODULE_RULES: Rules<RegistryModuleOptions> = {
  ...LEASE_RULES,
  horizonMs: LEASE_RULES.leaseTtlMs,
  registry: required(registryRule),
  layout: layoutRule,
  workers: workerRangeRule,
  datacenter: whole(0),
  stepLog: stepLogRule,
  logger: loggerRule,
};

export const SNOWFLAKE_MODULE_RULES: Rules<SnowflakeModuleOptions> = {
  ...SNOWFLAKE_RULES,
  ...REGISTRY_MODULE_RULES,
  instance: required(object(INSTANCE)),
  maintainMs: milliseconds(1),
  mostWindows: whole(1),
  waitForWorker: flag,
  wrapRegistry: callback,
};

/** The faults that options without a fault have together. */
export function togetherFaults(options: RegistryModuleOptions, path: string): readonly Fault[] {
  const faults = limitFaults(options, path);
  return faults.length > 0 ? faults : registryFaults(registryOptions(options), path);
}

function limitFaults(options: RegistryModuleOptions, path: string): readonly Fault[] {
  const { registry, layout = DEFAULT_LAYOUT, workers, datacenter } = options;
  if (workers === undefined && datacenter === undefined) return [];
  const { strategy } = registry;
  if (strategyOf(registry).policy === 'fixed' && strategy !== 'local') {
    const fault = `cannot be used with the registry ${strategy}, which numbers its servers itself; use a pool, such as database or zk_recycle`;
    return [{ path: pathOf(path, workers === undefined ? 'datacenter' : 'workers'), fault }];
  }
  if (datacenter === undefined) return [];
  const { datacenterBits = 0 } = layout;
  if (datacenterBits === 0) {
    return [{ path: pathOf(path, 'datacenter'), fault: 'needs a layout with data center bits, such as 41,5+5,12' }];
  }
  const faults = whole(0, 2 ** datacenterBits - 1)(datacenter, pathOf(path, 'datacenter'));
  if (faults.length > 0 || workers === undefined) return faults;
  const range = formatWorkerRange(workersOfDatacenter(datacenter, layout));
  if (formatWorkerRange(parseWorkerRange(workers)) === range) return [];
  const fault = `must be ${range}, the worker IDs of data center ${datacenter}, or be omitted, not ${workers}`;
  return [{ path: pathOf(path, 'workers'), fault }];
}

const together: Rule = (value, path) => togetherFaults(value as RegistryModuleOptions, path);

/** The rule of {@link RegistryModuleOptions}. */
export const registryModuleRule = both(object(REGISTRY_MODULE_RULES), together);

/** The rule of {@link SnowflakeModuleOptions}. */
export const snowflakeModuleRule = both(object(SNOWFLAKE_MODULE_RULES), together);
