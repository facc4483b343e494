import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WorkerRegistry } from '@leaf/core';
import { DataSource } from 'typeorm';
import { makeDataDirectory, removeDataDirectory } from '../../../test/support/data-directory';
import { InMemoryWorkerRegistry, InMemoryWorkerStorage } from '../../../test/support/in-memory-worker-registry';
import { LocalWorkerRegistry } from './local/local-worker-registry';
import { StandInRegistry } from './offline/stand-in-registry';
import type { RegistryModuleOptions } from './registry.module-definition';
import { registryProvider } from './registry.providers';
import { SqlWorkerRegistry } from './sql/sql-worker-registry';
import { ZkNormalRegistry } from './zk-normal/zk-normal-registry';
import { ZkRecycleRegistry } from './zk-recycle/zk-recycle-registry';

const ZOOKEEPER = { name: 'leaf', zookeeper: { address: 'zk1,zk2:2182/prod' } };

describe('the strategy', () => {
  let directory: string;

  beforeEach(async () => (directory = await makeDataDirectory()));
  afterEach(() => removeDataDirectory(directory));

  function create(options: RegistryModuleOptions): WorkerRegistry {
    return registryProvider.useFactory(options) as WorkerRegistry;
  }

  it('may be none', () => {
    expect(registryProvider.provide).toBe(WorkerRegistry);
    expect(registryProvider.useFactory()).toBeUndefined();
  });

  it('local keeps its records in the directory', () => {
    const registry = create({ strategy: 'local', workers: { '*': 3 }, directory });
    expect(registry).toBeInstanceOf(LocalWorkerRegistry);
    expect(registry.description).toBe(`local (${directory})`);
  });

  it('mysql has a SQLite file of its own, beside that of the tags, and makes it when it is used', async () => {
    const registry = create({ strategy: 'mysql', url: `sqlite:${join(directory, 'leaf.sqlite')}`, migrate: true });
    const file = join(directory, 'workers-leaf.sqlite');
    expect(registry).toBeInstanceOf(SqlWorkerRegistry);
    expect(registry.description).toBe(`mysql (sqlite:${file})`);
    expect(existsSync(file)).toBe(false);
    await expect(registry.usage()).resolves.toEqual({ used: 0, most: 1023 });
    expect(existsSync(file)).toBe(true);
    await registry.close();
  });

  it('mysql names a database server, without its secrets', async () => {
    const url = 'mysql://leaf:secret@db1:3306/leaf';
    const registry = create({ strategy: 'mysql', url, migrate: false, maxWorkerId: 7 });
    expect(registry.description).toBe('mysql (mysql://db1:3306/leaf)');
    await registry.close();
  });

  it('mysql shares the data source of an application', async () => {
    const dataSource = new DataSource({ type: 'postgres', host: 'db1', port: 5432, database: 'shop' });
    const registry = create({ strategy: 'mysql', dataSource, migrate: false });
    expect(registry.description).toBe('mysql (postgres database shop of the application)');
    await registry.close();
  });

  it.each([
    ['zk_normal', 'forever', ZkNormalRegistry],
    ['zk_recycle', 'recycle/workers', ZkRecycleRegistry],
  ] as const)('%s connects to nothing before it is used', async (strategy, records, type) => {
    const url = 'http://10.0.0.7:8080';
    const auth = 'digest:leaf:secret';
    for (const more of [{}, { url, maxWorkerId: 7, zookeeper: { ...ZOOKEEPER.zookeeper, auth, sessionMs: 5000 } }]) {
      const registry = create({ strategy, ...ZOOKEEPER, ...more });
      expect(registry).toBeInstanceOf(type);
      expect(registry.description).toBe(`${strategy} (zk1,zk2:2182/prod/snowflake/leaf/${records})`);
      await registry.close();
    }
  });

  it.each<[string, RegistryModuleOptions]>([
    ['mysql', { strategy: 'mysql', url: 'mysql://db1/leaf', migrate: false }],
    ['zk_normal', { strategy: 'zk_normal', ...ZOOKEEPER }],
  ])('%s has a file that stands in for it, where there is a directory for one', async (_, options) => {
    const alone = create(options);
    const registry = create({ ...options, standInDirectory: directory } as RegistryModuleOptions);
    expect(alone).not.toBeInstanceOf(StandInRegistry);
    expect(registry).toBeInstanceOf(StandInRegistry);
    expect(registry.description).toBe(alone.description);
    await alone.close();
    await registry.close();
  });

  it('custom is the registry of the application', () => {
    const registry = new InMemoryWorkerRegistry(new InMemoryWorkerStorage());
    expect(create({ strategy: 'custom', registry })).toBe(registry);
  });
});
