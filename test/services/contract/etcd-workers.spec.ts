import { SystemClock, type WorkerStore } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { strategyOf } from '../../../libs/registry/src/strategies/strategies';
import { workerRegistryContract } from '../../support/contract/worker-registry.contract';
import { documentOf, recordOf, workerStoreContract } from '../../support/contract/worker-store.contract';
import { failNextWrite } from '../../support/fakes/lost-answers';
import { type EtcdServer, startEtcd } from '../../support/servers/etcd';

let server: EtcdServer;
let name: string;

beforeAll(async () => {
  server = await startEtcd();
  name = await server.createDatabase();
});
afterAll(() => server.stop());

const reset = (): Promise<void> => server.deleteKeys(`/leaf/${name}/`);

function store(): Promise<WorkerStore> {
  const context = { clock: new SystemClock(), random: systemRandom, onCloseProblem: () => undefined };
  const options = { strategy: 'etcd', etcd: { endpoints: server.endpoint }, name } as const;
  return Promise.resolve(strategyOf(options).create(context).store);
}

workerStoreContract('etcd', {
  ...{ reset, open: store, numbers: false, onePerInstance: false, failNextWrite },
  remove: (what) => server.deleteKeys(`/leaf/${name}/${what === 'document' ? 'registry' : `workers/${what.workerId}`}`),
});
workerRegistryContract('A pool in etcd', { exclusive: false, reset, store });

it('etcd makes no record once the document has changed since it was read, or is gone', async () => {
  await reset();
  const one = await store();
  const other = await store();
  try {
    const missing = await one.readRegistry();
    expect(await other.writeRegistry(missing, documentOf(missing))).toBe(true);
    expect(await one.create(missing, recordOf(1), 7)).toBeUndefined();
    const before = await one.readRegistry();
    await reset();
    expect(await one.create(before, recordOf(1), 7)).toBeUndefined();
    expect(await one.list()).toStrictEqual([]);
    expect(await one.create(await one.readRegistry(), recordOf(1), 7)).toMatchObject({ workerId: 7 });
  } finally {
    await one.close();
    await other.close();
  }
});
