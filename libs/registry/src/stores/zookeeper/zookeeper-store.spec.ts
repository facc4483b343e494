import type { WorkerRecord } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { InMemoryZookeeper } from '../../../../../test/support/fakes/in-memory-zookeeper';
import { RegistryTraffic } from '../../../../../test/support/fakes/registry-traffic';
import { PLAIN, SEQUENTIAL } from './node-layout';
import { ZookeeperFault } from './zookeeper-fault';
import { ZookeeperWorkerStore } from './zookeeper-store';

const instance = { ip: '10.0.0.7', port: 8080 };

it.each([
  [PLAIN, []],
  [SEQUENTIAL, []],
  [PLAIN, ['bad-version', 'bad-version']],
  [PLAIN, ['unknown-outcome']],
] as const)(
  'loses the lease, and begins a new history, if the node is created again between read and write: %#',
  async (layout, faults) => {
    const session = new InMemoryZookeeper(new RegistryTraffic()).connect();
    const store = new ZookeeperWorkerStore(session, layout, { name: 'leaf', zookeeper: 'zk1' }, new FakeClock());
    const document = { ...{ id: 'a', strategy: 'test', madeAt: 1, layout: 'x', highest: -1 }, generation: 1 };
    const write = (): Promise<boolean> =>
      store
        .readRegistry()
        .then((read) => store.writeRegistry(read, { ...document, origin: read.origin, began: 1, floor: 1 }));
    await write();
    const record = { instance, leaseId: 'ours', write: 1, ceiling: 1001, free: false };
    const made = (await store.create(await store.readRegistry(), record, 1))!;
    const path = `/snowflake/leaf/${layout.records}/${layout.nameOf(1, instance)}`;
    const { setData, remove } = session;
    session.setData = async (...call) => {
      session.setData = setData;
      await session.remove(call[0], 0);
      await session.create(call[0], 'theirs', 'persistent');
      const left = [...faults];
      session.remove = (...removal) => {
        const fault = left.shift();
        return fault === undefined ? remove(...removal) : Promise.reject(new ZookeeperFault(fault, fault));
      };
      return setData(...call);
    };
    const lost = { code: 'LEAF_LEASE_LOST', message: expect.stringContaining(path) };
    await expect(store.replace(made, { ...record, write: 2 })).rejects.toMatchObject(lost);
    const { document: left } = await store.readRegistry();
    expect(left === undefined).toBe(!faults.some((fault) => fault === 'unknown-outcome'));
  },
);

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
