import { SystemClock, type WorkerStore } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { POOL_WORKERS } from '@leaf-ids/persistence';
import { EtcdClient } from '../../../libs/registry/src/stores/etcd/etcd-client';
import { EtcdWorkerStore } from '../../../libs/registry/src/stores/etcd/etcd-store';
import { KubernetesClient } from '../../../libs/registry/src/stores/kubernetes/kubernetes-client';
import { KubernetesWorkerStore } from '../../../libs/registry/src/stores/kubernetes/kubernetes-store';
import { PLAIN } from '../../../libs/registry/src/stores/zookeeper/node-layout';
import { raceForAll } from '../../support/contract/worker-registry.contract';
import { openSession, zkStore } from '../../support/contract/zk-stores';
import { KubernetesApi } from '../../support/fakes/kubernetes-api';
import { startEtcd } from '../../support/servers/etcd';
import { SERVER_HOSTS, SQLITE_HOST, WorkerTables } from '../../support/servers/worker-databases';
import { WorkerWorld } from '../../support/servers/worker-processes';
import { startZookeeper } from '../../support/servers/zookeeper';

/** All workers of the default layout. */
const WORKERS = 1024;
/** For requests of all of them at once. */
const CALL_MS = 60_000;
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
  const { open, stop } = await start();
  const store = () => Promise.resolve(open());
  const world = new WorkerWorld({ exclusive: false, reset, store });
  await raceForAll(world, WORKERS);
  await world.closeAll();
  await stop();
});

interface Pool {
  readonly open: () => WorkerStore;
  readonly stop: () => Promise<void>;
}

async function startEtcdPool(): Promise<Pool> {
  const server = await startEtcd();
  const options = { endpoints: [new URL(server.endpoint)], callMs: CALL_MS };
  const open = () => new EtcdWorkerStore(new EtcdClient(options, new SystemClock(), systemRandom), 'leaf');
  return { open, stop: () => server.stop() };
}

async function startLeases(): Promise<Pool> {
  const api = await KubernetesApi.start();
  const options = { server: new URL(api.url), directory: api.directory, callMs: CALL_MS };
  const clock = new SystemClock();
  const open = () => new KubernetesWorkerStore(new KubernetesClient(options, clock), 'leaf', clock);
  return { open, stop: () => api.stop() };
}
