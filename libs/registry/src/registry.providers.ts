import { basename, dirname, join } from 'node:path';
import { type FactoryProvider, Logger } from '@nestjs/common';
import { type Clock, SystemClock, systemRandom, WorkerRegistry } from '@leaf/core';
import {
  type DatabaseTarget,
  LazyDatabase,
  parseDatabaseUrl,
  SharedDatabase,
  type WorkerDatabase,
  WorkerTable,
} from '@leaf/persistence';
import { LocalWorkerRegistry } from './local/local-worker-registry';
import { StandInRegistry } from './offline/stand-in-registry';
import { MODULE_OPTIONS_TOKEN, type RegistryModuleOptions, type ZookeeperOptions } from './registry.module-definition';
import { SqlWorkerRegistry } from './sql/sql-worker-registry';
import { ZkNormalRegistry } from './zk-normal/zk-normal-registry';
import { ZkRecycleRegistry } from './zk-recycle/zk-recycle-registry';
import { parseZookeeperAddress, parseZookeeperAuth } from './zookeeper/zookeeper-address';
import type { ZookeeperRegistryOptions } from './zookeeper/zookeeper-registry';
import { ZookeeperSession } from './zookeeper/zookeeper-session';

const DEFAULT_MAX_WORKER_ID = 1023;
/** Both together well within half a horizon of 10 s: an extension that fails leaves time for another one. */
const ZOOKEEPER_LIMITS = { connectMs: 2000, callMs: 2000 };
const DEFAULT_SESSION_MS = 10_000;

/** The one place that knows every strategy. None of them connects before it is used. */
function createRegistry(options: RegistryModuleOptions): WorkerRegistry {
  switch (options.strategy) {
    case 'local':
      return new LocalWorkerRegistry(options.workers, options.directory);
    case 'mysql':
      return withStandIn(createSqlRegistry(options), options.standInDirectory);
    case 'zk_normal': {
      const session = createSession(options.zookeeper);
      const registry = new ZkNormalRegistry(session, zookeeperOptions(options), new SystemClock());
      return withStandIn(registry, options.standInDirectory);
    }
    case 'zk_recycle': {
      const session = createSession(options.zookeeper);
      return new ZkRecycleRegistry(session, zookeeperOptions(options), new SystemClock(), systemRandom);
    }
    case 'custom':
      return options.registry;
  }
}

function withStandIn(registry: WorkerRegistry, directory: string | undefined): WorkerRegistry {
  return directory === undefined ? registry : new StandInRegistry(registry, directory, new SystemClock());
}

type SqlOptions = Extract<RegistryModuleOptions, { strategy: 'mysql' }>;

function createSqlRegistry(options: SqlOptions): WorkerRegistry {
  const clock = new SystemClock();
  const table = new WorkerTable(workerDatabase(options, clock));
  return new SqlWorkerRegistry(table, options.maxWorkerId ?? DEFAULT_MAX_WORKER_ID, clock);
}

function workerDatabase(options: SqlOptions, clock: Clock): WorkerDatabase {
  const { migrate } = options;
  if ('dataSource' in options) return new SharedDatabase(options.dataSource, migrate, clock, systemRandom);
  const logger = new Logger('Registry');
  const onCloseProblem = (step: string, problem: string): void => logger.error(`Stop: ${step}: ${problem}`);
  const target = workersOf(parseDatabaseUrl(options.url));
  return new LazyDatabase({ target, migrate, onCloseProblem }, clock, systemRandom);
}

/** SQLite lets one connection write at a time, and a lease does not wait behind tags: it has a file of its own. */
function workersOf(target: DatabaseTarget): DatabaseTarget {
  if (target.dialect !== 'sqlite') return target;
  const file = join(dirname(target.file), `workers-${basename(target.file)}`);
  return { ...target, file, description: `sqlite:${file}` };
}

function createSession({ address, auth, sessionMs = DEFAULT_SESSION_MS }: ZookeeperOptions): ZookeeperSession {
  const options = {
    ...ZOOKEEPER_LIMITS,
    address: parseZookeeperAddress(address),
    sessionMs,
    ...(auth === undefined ? {} : { auth: parseZookeeperAuth(auth) }),
  };
  return new ZookeeperSession(options, new SystemClock(), systemRandom);
}

function zookeeperOptions({
  name,
  zookeeper,
  maxWorkerId = DEFAULT_MAX_WORKER_ID,
  url,
}: Extract<RegistryModuleOptions, { strategy: 'zk_normal' | 'zk_recycle' }>): ZookeeperRegistryOptions {
  const { description } = parseZookeeperAddress(zookeeper.address);
  return { name, maxWorkerId, zookeeper: description, ...(url === undefined ? {} : { url }) };
}

export const registryProvider: FactoryProvider<WorkerRegistry | undefined> = {
  provide: WorkerRegistry,
  useFactory: (options?: RegistryModuleOptions) => options && createRegistry(options),
  inject: [MODULE_OPTIONS_TOKEN],
};
