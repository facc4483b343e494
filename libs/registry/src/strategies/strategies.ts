import { randomBytes } from 'node:crypto';
import { type Instance, SystemClock, WorkerRegistry, type WorkerStore } from '@leaf-ids/core';
import {
  both,
  type Fault,
  flag,
  isWorkerIn,
  LEASE_LIMITS,
  leaseFaults,
  LoggedWorkerFile,
  LoggedWorkerStore,
  type StepLog,
  type LeaseLimits,
  object,
  oneOf,
  pathOf,
  rangeFaults,
  record,
  required,
  type Rule,
  rule,
  type Rules,
  systemRandom,
  text,
  whole,
  type WorkerRegistryOptions,
  workerStoreRule,
} from '@leaf-ids/core/internal';
import { closeProblem, type LoggerOption, loggerOf } from '@leaf-ids/persistence';
import { FixedPolicy } from '../policies/fixed-policy';
import { PoolPolicy } from '../policies/pool-policy';
import { database, type DatabaseOptions, mysql, type MysqlOptions } from './database';
import { etcd, type EtcdOptions } from './etcd';
import { kubernetes, type KubernetesOptions } from './kubernetes';
import { local, type LocalOptions } from './local';
import type { LeaseTimes, RegistrySettings, Strategy, StrategyContext, StrategyParts } from './strategy';
import { zkNormal, type ZkNormalOptions, zkRecycle, type ZkRecycleOptions } from './zookeeper';

/** A worker store of the application. */
interface CustomOptions {
  readonly strategy: 'custom';
  readonly store: WorkerStore;
  /** One record for each `ip:port`, or a pool. */
  readonly policy: 'fixed' | 'pool';
  /** Whether the store never loses a confirmed write. False by default: newcomers wait in a new registry. */
  readonly remembers?: boolean;
}

const RULES: Rules<CustomOptions> = {
  strategy: text,
  store: required(workerStoreRule),
  policy: required(oneOf('fixed', 'pool')),
  remembers: flag,
};

const customRule = object(RULES);

function customParts({ store, policy }: CustomOptions): StrategyParts {
  return { store, policy: policy === 'pool' ? new PoolPolicy() : new FixedPolicy() };
}

type ListedOptions =
  LocalOptions | MysqlOptions | DatabaseOptions | ZkNormalOptions | ZkRecycleOptions | EtcdOptions | KubernetesOptions;

/** The options of a worker registry. */
export type RegistryOptions = ListedOptions | CustomOptions;

export type StrategyName = ListedOptions['strategy'];

type OptionsOf<Name extends StrategyName> = Extract<ListedOptions, { readonly strategy: Name }>;

/** The strategies that a setting can name. */
const STRATEGIES: { readonly [Name in StrategyName]: Strategy<OptionsOf<Name>> } = {
  local,
  database,
  mysql,
  zk_normal: zkNormal,
  zk_recycle: zkRecycle,
  etcd,
  kubernetes,
};

export const STRATEGY_NAMES = Object.keys(STRATEGIES) as StrategyName[];

/** A strategy with its options. */
interface BoundStrategy {
  readonly policy: 'fixed' | 'pool';
  readonly lease: LeaseTimes;
  readonly remembers: boolean;
  create(context: StrategyContext): StrategyParts;
  ofProcess(server: Instance, process: number): RegistryOptions;
}

/** The lease of each policy, for strategies that have none of their own. */
export const DEFAULT_LEASES: Readonly<Record<'fixed' | 'pool', LeaseTimes>> = {
  fixed: { reportMs: 3000, leaseTtlMs: 10_000 },
  pool: { reportMs: 3000, leaseTtlMs: 3_600_000 },
};

const known = required(oneOf(...STRATEGY_NAMES, 'custom'));

/** The rule of {@link RegistryOptions}: that of the strategy that they name. */
export const registryRule: Rule = both(
  rule('an object such as { strategy: "database", … }', (value) => typeof value === 'object' && value !== null),
  (value, path) => {
    const { strategy } = value as RegistryOptions;
    const faults = known(strategy, pathOf(path, 'strategy'));
    if (faults.length > 0) return faults;
    return (strategy === 'custom' ? customRule : STRATEGIES[strategy].rule)(value, path);
  },
);

/** A strategy and the options of its leases. */
export interface LeasedRegistryOptions extends Omit<WorkerRegistryOptions, 'name' | 'remembers'>, LoggerOption {
  readonly registry: RegistryOptions;
  /** Records the writes of the registry. */
  readonly stepLog?: StepLog;
}

/** The faults that options without a fault have together. */
export function registryFaults(options: LeasedRegistryOptions, path: string): readonly Fault[] {
  const { registry, maxWorkerId, workers } = options;
  const strategy = strategyOf(registry);
  const assigned =
    workers === undefined
      ? whole(0, maxWorkerId)
      : rule(`from ${workers.first} to ${workers.last}, the worker IDs of this server`, (workerId) =>
          isWorkerIn(workers, workerId as number),
        );
  return [
    ...rangeFaults(options, pathOf(path, 'workers')),
    ...leaseFaults({ ...options, remembers: strategy.remembers, limits: limitsOf(strategy) }, path),
    ...(registry.strategy === 'local' ? record(assigned)(registry.workers, pathOf(path, 'registry.workers')) : []),
  ];
}

/** @param options without faults */
export function strategyOf(options: RegistryOptions): BoundStrategy {
  if (options.strategy === 'custom') {
    const { policy, remembers = false } = options;
    const lease = DEFAULT_LEASES[policy];
    return { policy, lease, remembers, create: () => customParts(options), ofProcess: () => options };
  }
  return bind(options);
}

export function registryFromSettings(name: StrategyName, settings: RegistrySettings): RegistryOptions {
  return STRATEGIES[name].fromSettings(settings);
}

/** Servers may report more often than by default, but not less often. */
function limitsOf({ lease: { reportMs } }: { readonly lease: LeaseTimes }): LeaseLimits {
  return { ...LEASE_LIMITS, reportMs };
}

/** The defaults of the lease for a strategy that a setting can name. */
export function leaseOf(name: StrategyName): LeaseTimes {
  const { lease, policy } = STRATEGIES[name];
  return lease ?? DEFAULT_LEASES[policy];
}

export function policyOf(name: StrategyName): 'fixed' | 'pool' {
  return STRATEGIES[name].policy;
}

function bind<Name extends StrategyName>(options: OptionsOf<Name>): BoundStrategy {
  const strategy: Strategy<OptionsOf<Name>> = STRATEGIES[options.strategy];
  return {
    policy: strategy.policy,
    lease: leaseOf(options.strategy),
    remembers: strategy.remembers?.(options) ?? false,
    create: (context) => strategy.create(options, context),
    ofProcess: (server, process) => strategy.ofProcess(options, server, process),
  };
}

/**
 * Creates a registry, which connects when it is first used.
 *
 * @param registry without faults
 */
export function createRegistry({
  registry,
  logger: given,
  stepLog,
  ...options
}: LeasedRegistryOptions): WorkerRegistry {
  const logger = loggerOf({ logger: given }, 'Registry');
  const surroundings = { clock: new SystemClock(), random: systemRandom };
  const strategy = strategyOf(registry);
  const parts = strategy.create({
    ...surroundings,
    onCloseProblem: closeProblem(logger),
    onCreated: (database) =>
      logger.log(`Created the tables of the worker registry in ${database}; no worker ID was held there before.`),
  });
  const newId = (): string => randomBytes(8).toString('hex');
  const known = { name: registry.strategy, remembers: strategy.remembers, limits: limitsOf(strategy) };
  return new WorkerRegistry({ ...loggedParts(parts, stepLog), ...surroundings, newId }, { ...known, ...options });
}

function loggedParts({ policy, store, file }: StrategyParts, log: StepLog | undefined): StrategyParts {
  if (log === undefined) return { policy, store, ...(file && { file }) };
  return {
    policy,
    store: new LoggedWorkerStore(store, log, !policy.exclusive),
    ...(file && { file: new LoggedWorkerFile(file, log) }),
  };
}
