import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkerRegistry } from '@leaf-ids/core';
import { defaultLayout } from '@leaf-ids/core/internal';
import { DataSource } from 'typeorm';
import { makeDataDirectory, removeDataDirectory } from '../../../../test/support/servers/data-directory';
import { FakeClock, InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import {
  createRegistry,
  policyOf,
  registryFaults,
  registryFromSettings,
  type RegistryOptions,
  registryRule,
  type RegistrySettings,
  STRATEGY_NAMES,
  strategyOf,
} from '@leaf-ids/registry';

const ZOOKEEPER = { name: 'leaf', zookeeper: { address: 'zk1,zk2:2182/prod' } };
const SERVER = { ip: '10.0.0.7', port: 8080 };

describe('a strategy', () => {
  let directory: string;
  beforeEach(async () => (directory = await makeDataDirectory()));
  afterEach(() => removeDataDirectory(directory));

  function create(registry: RegistryOptions): WorkerRegistry {
    const lease = { ...strategyOf(registry).lease, maxClockOffsetMs: 5000 };
    return createRegistry({ registry, ...lease, layout: defaultLayout().fingerprint, maxWorkerId: 1023 });
  }

  it('is refused when unknown, and the known ones are named', () => {
    const names = '"local", "database", "mysql", "zk_normal", "zk_recycle", "etcd", "kubernetes" or "custom"';
    const fault = `must be ${names}, not "consul"`;
    expect(registryRule({ strategy: 'consul' }, 'registry')).toEqual([{ path: 'registry.strategy', fault }]);
  });

  it('local keeps its records in the directory', () => {
    expect(create({ strategy: 'local', workers: { '*': 3 }, directory }).description).toBe(`local (${directory})`);
  });

  it.each(['mysql', 'database'] as const)(
    '%s has a SQLite file of its own, beside that of the tags, and makes it when it is used',
    async (strategy) => {
      const url = `sqlite:${join(directory, 'leaf.sqlite')}`;
      const registry = create({ ...registryFromSettings(strategy, settings({ databaseUrl: url })) });
      const file = join(directory, 'workers-leaf.sqlite');
      expect(registry.description).toBe(`${strategy} (sqlite:${file})`);
      expect(existsSync(file)).toBe(false);
      expect(await registry.records()).toStrictEqual([]);
      expect(existsSync(file)).toBe(true);
      await registry.close();
    },
  );

  it('names a database server without its secrets', async () => {
    const registry = create({ strategy: 'database', url: 'mysql://leaf:secret@db1:3306/leaf', migrate: false });
    expect(registry.description).toBe('database (mysql://db1:3306/leaf)');
    await registry.close();
  });

  it('mysql shares the data source of an application', async () => {
    const dataSource = new DataSource({ type: 'postgres', host: 'db1', port: 5432, database: 'shop' });
    const registry = create({ strategy: 'mysql', dataSource, migrate: false });
    expect(registry.description).toBe('mysql (postgres database shop of the application)');
    await registry.close();
  });

  it.each([
    ['zk_normal', 'forever'],
    ['zk_recycle', 'recycle/workers'],
  ] as const)('%s connects to nothing before it is used', async (strategy, records) => {
    const url = 'http://10.0.0.7:8080';
    const auth = 'digest:leaf:secret';
    for (const more of [{}, { url, zookeeper: { ...ZOOKEEPER.zookeeper, auth, sessionMs: 5000 } }]) {
      const registry = create({ strategy, ...ZOOKEEPER, ...more });
      expect(registry.description).toBe(`${strategy} (zk1,zk2:2182/prod/snowflake/leaf/${records})`);
      await registry.abort();
      await registry.close();
    }
  });

  it('etcd and kubernetes connect to nothing before they are used', async () => {
    for (const strategy of ['etcd', 'kubernetes'] as const) {
      const registry = create(registryFromSettings(strategy, settings()));
      expect(registry.description).toMatch(new RegExp(`^${strategy} \\(https?://[^/]+/leaf[/-]leaf\\)$`));
      await registry.close();
    }
    const etcd = { endpoints: 'https://etcd1:2379', certFile: '/cert' };
    const fault = 'must be set: a client certificate and its key need each other';
    expect(registryRule({ strategy: 'etcd', name: 'leaf', etcd }, '')).toEqual([{ path: 'etcd.keyFile', fault }]);
  });

  it('custom is a store of the application, under a policy', async () => {
    const store = new InMemoryWorkerStore(new InMemoryWorkers());
    const registry = create({ strategy: 'custom', store, policy: 'pool' });
    expect(registry.description).toBe('custom (memory)');
    expect(await registry.peers()).toStrictEqual([]);
    expect(strategyOf({ strategy: 'custom', store, policy: 'pool' }).ofProcess(SERVER, 1)).toMatchObject({ store });
    await registry.close();
  });

  it('reserves an hour ahead by default with a pool, ten seconds otherwise', () => {
    const leaseTtls = STRATEGY_NAMES.map((name) => [
      name,
      strategyOf(registryFromSettings(name, settings())).lease.leaseTtlMs,
    ]);
    expect(Object.fromEntries(leaseTtls)).toEqual({
      ...{ local: 10_000, mysql: 10_000, zk_normal: 10_000 },
      ...{ database: 3_600_000, zk_recycle: 3_600_000, etcd: 3_600_000, kubernetes: 60_000 },
    });
  });

  it.each(['mysql', 'zk_normal'] as const)('%s has a file of its own for each process', (name) => {
    const options = registryFromSettings(name, settings());
    expect(options).toMatchObject({ strategy: name, fileDirectory: directory });
    expect(strategyOf(options).ofProcess(SERVER, 2)).toMatchObject({ fileDirectory: join(directory, 'process-2') });
    const without = registryFromSettings(name, settings({ fileFallback: false }));
    expect(without).not.toHaveProperty('fileDirectory');
    expect(strategyOf(without).ofProcess(SERVER, 2)).not.toHaveProperty('fileDirectory');
  });

  it('local refuses worker IDs that the layout does not have, and never runs out', () => {
    const options = { strategy: 'local', workers: { '*': 1024 }, directory } as const;
    const faults = (registry: RegistryOptions, maxWorkerId: number): unknown =>
      registryFaults({ registry, ...strategyOf(registry).lease, maxClockOffsetMs: 5000, layout: '', maxWorkerId }, '');
    const fault = 'must be a whole number from 0 to 1023, not 1024';
    expect(faults(options, 1023)).toEqual([{ path: 'registry.workers["*"]', fault }]);
    expect(faults(options, 1024)).toStrictEqual([]);
    expect(faults(registryFromSettings('database', settings()), 0)).toStrictEqual([]);
    const context = { clock: new FakeClock(), random: () => 0, onCloseProblem: () => undefined };
    expect(strategyOf(options).create(context).policy.usage([], { first: 0, last: 1023 }, 0)).toBeUndefined();
  });

  it('is for a pool or for one record per address', () => {
    expect(STRATEGY_NAMES.filter((name) => policyOf(name) === 'fixed')).toEqual(['local', 'mysql', 'zk_normal']);
  });

  it('local gives the processes of a server the worker IDs that follow', () => {
    const options = registryFromSettings('local', settings());
    const workers = { '10.0.0.7#1:8080': 4, '10.0.0.8:8080': 8 };
    expect(strategyOf(options).ofProcess(SERVER, 1)).toMatchObject({ workers });
  });

  it.each(['database', 'zk_recycle', 'etcd', 'kubernetes'] as const)('%s is the same for all processes', (name) => {
    const options = registryFromSettings(name, settings());
    expect(strategyOf(options).ofProcess(SERVER, 1)).toEqual(options);
  });

  function settings(more: Partial<RegistrySettings> = {}): RegistrySettings {
    return {
      ...{ name: 'leaf', directory, fileFallback: true, databaseUrl: 'mysql://db1/leaf', migrate: true },
      ...{ localWorkers: { '10.0.0.7:8080': 3, '10.0.0.8:8080': 7 }, zookeeper: { address: 'zk1:2181' } },
      etcd: { endpoints: 'http://etcd1:2379' },
      kubernetes: { server: 'https://10.96.0.1:443' },
      ...{ url: 'http://10.0.0.7:8080', accept: [], ...more },
    };
  }
});
