import { type Clock, SystemClock, type WorkerStore } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { type KubernetesOptions } from '../../../libs/registry/src/strategies/kubernetes';
import { registryRule, strategyOf } from '../../../libs/registry/src/strategies/strategies';
import { KubernetesApi } from '../../support/fakes/kubernetes-api';
import { LeaseRig, type LeaseRigOptions, pass } from '../../support/fakes/lease-rig';
import { failNextWrite } from '../../support/fakes/lost-answers';
import { workerRegistryContract } from '../../support/contract/worker-registry.contract';
import { workerStoreContract } from '../../support/contract/worker-store.contract';

let api: KubernetesApi;

beforeAll(async () => (api = await KubernetesApi.start()));
afterAll(() => api.stop());

function open(): WorkerStore {
  return partsOf().store;
}

function partsOf(
  more: Partial<KubernetesOptions> = {},
  clock: Clock = new SystemClock(),
): ReturnType<ReturnType<typeof strategyOf>['create']> {
  const kubernetes = { server: api.url, directory: api.directory };
  const context = { clock, random: systemRandom, onCloseProblem: () => undefined };
  return strategyOf({ strategy: 'kubernetes', kubernetes, name: 'leaf', ...more }).create(context);
}

const harness = {
  reset: () => {
    api.wipe();
    return Promise.resolve();
  },
  open: () => Promise.resolve(open()),
  store: () => Promise.resolve(open()),
};

workerStoreContract('Kubernetes', {
  ...{ ...harness, numbers: false, onePerInstance: false, failNextWrite },
  remove: (what) => {
    api.leases.delete(what === 'document' ? 'leaf-leaf-registry' : `leaf-leaf-worker-${what.workerId}`);
    return Promise.resolve();
  },
});
workerRegistryContract('A pool in Kubernetes', { ...harness, exclusive: false });

it('takes the preferred worker ID only if it is free', async () => {
  api.wipe();
  const clock = new FakeClock();
  const rig = async (ip: string, preferredWorkerId: number): Promise<LeaseRig> => {
    const { store: own, policy } = partsOf({ preferredWorkerId }, clock);
    const options: LeaseRigOptions = { policy, instance: { ip }, leaseTtlMs: 60_000, maxClockOffsetMs: 0 };
    return new LeaseRig(clock, own, options).start();
  };
  const first = await rig('10.0.0.1', 7);
  const second = await rig('10.0.0.2', 7);
  expect(first.workerId).toBe(7);
  expect(second.workerId).not.toBe(7);
  await first.lease.release();
  await pass([second], clock, 3000);
  expect((await rig('10.0.0.3', 7)).workerId).toBe(7);
});

it('refuses names that a label or a Lease cannot have', () => {
  for (const name of ['Leaf', 'leaf_1', '-leaf', 'l'.repeat(64)]) {
    const faults = registryRule({ strategy: 'kubernetes', kubernetes: { server: api.url }, name }, 'registry');
    expect(faults).toMatchObject([{ path: 'registry.name' }]);
  }
});
