import { PLAIN, SEQUENTIAL } from '../../../libs/registry/src/stores/zookeeper/node-layout';
import type { ZookeeperSession } from '../../../libs/registry/src/stores/zookeeper/zookeeper-session';
import { startZookeeper, type ZookeeperServer } from '../../support/servers/zookeeper';
import { requireZookeeperClient } from '../../support/servers/zookeeper-client';
import { workerRegistryContract } from '../../support/contract/worker-registry.contract';
import { openSession, removeTree, zkStore } from '../../support/contract/zk-stores';

let server: ZookeeperServer;
let database: string;
let operator: ZookeeperSession;

beforeAll(async () => {
  await requireZookeeperClient();
  server = await startZookeeper();
  database = await server.createDatabase();
  operator = openSession(database);
});
afterAll(async () => {
  await operator.close();
  await server.stop();
});

const reset = (): Promise<void> => removeTree(operator, '/snowflake');

workerRegistryContract('The nodes of the Java service', {
  exclusive: true,
  reset,
  store: () => Promise.resolve(zkStore(openSession(database), SEQUENTIAL)),
});

workerRegistryContract('A pool in ZooKeeper', {
  exclusive: false,
  reset,
  store: () => Promise.resolve(zkStore(openSession(database), PLAIN)),
});
