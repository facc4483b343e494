import { SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { POOL_WORKERS } from '@leaf-ids/persistence';
import type { RegistryOptions } from '@leaf-ids/registry';
import { PLAIN } from '../../../libs/registry/src/stores/zookeeper/node-layout';
import { strategyOf } from '../../../libs/registry/src/strategies/strategies';
import { raceForAll } from '../../contract/worker-registry.contract';
import { openSession, zkStore } from '../../services/contract/zk-stores';
import { KubernetesApi } from '../../support/fakes/kubernetes-api';
import { startEtcd } from '../../support/servers/etcd';
import { SERVER_HOSTS, SQLITE_HOST, WorkerTables } from '../../support/servers/worker-databases';
import { WorkerWorld } from '../../support/servers/worker-processes';
import { startZookeeper } from '../../support/servers/zookeeper';

/** All workers of the default layout. */
const WORKERS = 1024;
const reset = (): Promise<void> => Promise.resolve();

it.each([SQLITE_HOST, ...SERVER_HOSTS])(`a pool in %s gives each of ${WORKERS} servers a worker`, async (_, start) => {
  const tables = await WorkerTables.create(start);
  const store = () => Promise.resolve(tables.store(POOL_WORKERS));
  const world = new WorkerWorld({ exclusive: false, reset, store });
  await raceForAll(world, WORKERS);
  await world.closeAll();
  await tables.stop();
});

it(`a pool in ZooKeeper gives each of ${WORKERS} servers a worker`, async () => {
  const server = await startZookeeper();
  const database = await server.createDatabase();
  const store = () => Promise.resolve(zkStore(openSession(database), PLAIN));
  const world = new WorkerWorld({ exclusive: false, reset, store });
  await raceForAll(world, WORKERS);
  await world.closeAll();
  await server.stop();
});

it.each([
  ['etcd', startEtcdPool],
  ['Leases of Kubernetes', startLeases],
])(`a pool in %s gives each of ${WORKERS} servers a worker`, async (_, start) => {
  const { options, stop } = await start();
  const context = { clock: new SystemClock(), random: systemRandom, onCloseProblem: () => undefined };
  const store = () => Promise.resolve(strategyOf(options).create(context).store);
  const world = new WorkerWorld({ exclusive: false, reset, store });
  await raceForAll(world, WORKERS);
  await world.closeAll();
  await stop();
});

interface Pool {
  readonly options: RegistryOptions;
  readonly stop: () => Promise<void>;
}

async function startEtcdPool(): Promise<Pool> {
  const server = await startEtcd();
  const etcd = { endpoints: server.endpoint, timeoutMs: 60_000 };
  return { options: { strategy: 'etcd', etcd, name: 'leaf' }, stop: () => server.stop() };
}

async function startLeases(): Promise<Pool> {
  const api = await KubernetesApi.start();
  const kubernetes = { server: api.url, directory: api.directory };
  return { options: { strategy: 'kubernetes', kubernetes, name: 'leaf' }, stop: () => api.stop() };
}
