import type { StoredWorker } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { openSession, zkStore } from '../../support/contract/zk-stores';
import { PLAIN, SEQUENTIAL } from '../../../libs/registry/src/stores/zookeeper/node-layout';
import type { ZookeeperWorkerStore } from '../../../libs/registry/src/stores/zookeeper/zookeeper-store';
import { WorkerProcess } from '../../support/servers/worker-processes';
import { startEnsemble, type ZookeeperEnsemble } from '../../support/servers/zookeeper';
import { requireZookeeperClient } from '../../support/servers/zookeeper-client';

const SERVERS = 32;

let ensemble: ZookeeperEnsemble;
let stores: ZookeeperWorkerStore[];
let clock: FakeClock;

beforeAll(async () => {
  await requireZookeeperClient();
  ensemble = await startEnsemble(3);
  await ensemble.leader();
});
afterAll(() => ensemble.stop());

describe.each([
  ['zk_normal', SEQUENTIAL],
  ['zk_recycle', PLAIN],
])('%s on an empty ensemble', (_name, layout) => {
  beforeEach(async () => {
    const database = await ensemble.createDatabase();
    stores = Array.from({ length: SERVERS }, () => zkStore(openSession(database), layout));
    clock = new FakeClock();
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
  });

  /** A session each, whichever of the ensemble that is on. */
  async function boot(maxWorkerId = 1023): Promise<WorkerProcess[]> {
    const processes = stores.map(
      (store, n) =>
        new WorkerProcess(store, clock, { exclusive: layout === SEQUENTIAL, port: 8080 + n }, { maxWorkerId }),
    );
    await Promise.all(processes.map((process) => process.acquire()));
    return processes;
  }

  const workersOf = (processes: readonly WorkerProcess[]): number[] => processes.map(({ claim }) => claim.workerId);
  const ascending = (ids: readonly number[]): number[] => [...ids].sort((a, b) => a - b);
  const all = Array.from({ length: SERVERS }, (_, n) => n);

  it(`gives ${SERVERS} servers that start at once the only ${SERVERS} worker IDs, and lets each keep its own`, async () => {
    const processes = await boot(SERVERS - 1);
    const ids = workersOf(processes);
    expect(ascending(ids)).toEqual(all);
    expect(await Promise.all(processes.map((process) => process.extend()))).toEqual(all.map(() => true));
    const recorded = await stores[0]!.list();
    expect(ascending(recorded.map(({ workerId }: StoredWorker) => workerId))).toEqual(all);
    // And again, once each has given back its own.
    await Promise.all(processes.map(({ claim }) => claim.release(clock.now() - 1)));
    const again = workersOf(await boot(SERVERS - 1));
    expect(layout === SEQUENTIAL ? again : ascending(again)).toEqual(layout === SEQUENTIAL ? ids : all);
  });
});
