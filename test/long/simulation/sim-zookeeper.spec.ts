import type { StoredWorker, WorkerStore } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { PLAIN } from '../../../libs/registry/src/stores/zookeeper/node-layout';
import type { Carry } from './sim-store';
import { SimZookeeper } from './sim-zookeeper';
import { simulate } from './world';

const instance = { ip: '10.0.0.7', port: 8080 };
const record = { instance, leaseId: 'ours', write: 1, ceiling: 1001, free: false };
const history = { generation: 1, origin: 'zookeeper', began: 1, floor: 1 };
const document = { ...{ id: 'a', strategy: 'pool', madeAt: 1, layout: '41/10/12', highest: -1 }, ...history };

async function register(store: WorkerStore, write: number): Promise<StoredWorker | undefined> {
  await store.writeRegistry(await store.readRegistry(), document);
  return store.create(await store.readRegistry(), { ...record, write }, 1);
}

it('tells a write to the node that was read from one to an earlier node', async () => {
  const written: [number, boolean][] = [];
  const zookeeper = new SimZookeeper(
    {
      wrote: (_writer, _before, after, isLate) => written.push([after.record.write, isLate]),
      floorWritten: () => undefined,
    },
    PLAIN,
  );
  let beforeSet = (): Promise<unknown> => Promise.resolve();
  const carry: Carry = async (label, operation) => {
    if (label === 'setData') await beforeSet();
    return operation();
  };
  const writer = { name: 'ours', leaseId: 'ours' };
  const connect = (): WorkerStore => zookeeper.storeOf(writer, new FakeClock(), carry, () => []);
  const store = connect();
  const first = (await register(store, 1))!;
  const second = await store.replace(first, { ...record, write: 2 });
  beforeSet = async () => {
    beforeSet = () => Promise.resolve();
    zookeeper.empty();
    const again = (await register(connect(), 4))!;
    await connect().replace(again, { ...record, write: 5 });
  };
  await expect(store.replace(second!, { ...record, write: 3 })).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
  expect(written).toEqual([
    [1, false],
    [2, false],
    [4, false],
    [5, false],
    [3, true],
  ]);
});

// Holds as long as the code is as it is, as the worlds of the removed rules do.
it('allows a holder to end its lease when its own late write has replaced its record', async () => {
  const { failure, tally } = await simulate(5487);
  expect(failure).toBeUndefined();
  expect(tally.overwritten).toBe(1);
});
