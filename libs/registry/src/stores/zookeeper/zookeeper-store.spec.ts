import type { WorkerRecord } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { InMemoryZookeeper } from '../../../../../test/support/fakes/in-memory-zookeeper';
import { RegistryTraffic } from '../../../../../test/support/fakes/registry-traffic';
import { SEQUENTIAL } from './node-layout';
import { ZookeeperWorkerStore } from './zookeeper-store';

it('removes its new node when the number belongs to an earlier node of another server', async () => {
  const session = new InMemoryZookeeper(new RegistryTraffic()).connect();
  const options = { name: 'leaf', zookeeper: 'zk1', url: 'http://10.0.0.7:8080' };
  const store = new ZookeeperWorkerStore(session, SEQUENTIAL, options, new FakeClock());
  const registry = await store.readRegistry();
  const record = (ip: string): WorkerRecord => ({
    instance: { ip, port: 8080 },
    leaseId: ip,
    ...{ write: 1, ceiling: 1001, free: false },
  });
  // ZooKeeper has made one node below the parent, so that it appends 1 to the next one.
  expect(await store.create(registry, record('10.0.0.8'), 1)).toMatchObject({ workerId: 1 });
  expect(await store.create(registry, record('10.0.0.7'), undefined)).toBeUndefined();
  expect(await store.list()).toMatchObject([{ workerId: 1, record: { leaseId: '10.0.0.8' } }]);
  expect(await session.children('/snowflake/leaf/forever')).toHaveLength(1);
});
