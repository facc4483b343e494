import { rm } from 'node:fs/promises';
import { SystemClock, type WorkerStore } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { KubernetesClient } from '../../libs/registry/src/stores/kubernetes/kubernetes-client';
import { KubernetesWorkerStore } from '../../libs/registry/src/stores/kubernetes/kubernetes-store';
import { strategyOf } from '../../libs/registry/src/strategies/strategies';
import { raceForAll, workerRegistryContract } from '../support/contract/worker-registry.contract';
import { workerStoreContract } from '../support/contract/worker-store.contract';
import { KubernetesApi } from '../support/fakes/kubernetes-api';
import { LeaseRig, pass, REPORT_MS } from '../support/fakes/lease-rig';
import { failNextWrite } from '../support/fakes/lost-answers';
import { type EtcdServer, startEtcd } from '../support/servers/etcd';
import {
  buildKubeApiServer,
  type KubeApiServer,
  type MountedAccount,
  startKubeApiServer,
} from '../support/servers/kubernetes/kube-apiserver';
import { WorkerWorld } from '../support/servers/worker-processes';
import { LEASE_REQUESTS, play } from './lease-requests';

const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };
/** All workers of the default layout. */
const WORKERS = 1024;
/** For requests of all of them at once, beside the API server on one machine. */
const PATIENCE_MS = 60_000;

let etcd: EtcdServer;
let server: KubeApiServer;
let account: MountedAccount;
const stores: WorkerStore[] = [];

beforeAll(async () => {
  await buildKubeApiServer();
  etcd = await startEtcd();
  server = await startKubeApiServer(etcd);
  account = await server.createAccount('shop');
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});
afterAll(async () => {
  await server.stop();
  await etcd.stop();
  await rm(account.directory, { recursive: true });
});

const leases = (): string => `/apis/coordination.k8s.io/v1/namespaces/${account.namespace}/leases`;
const reset = async (): Promise<void> => {
  await server.ask('DELETE', leases());
};

function store(): WorkerStore {
  const context = { clock: new SystemClock(), random: systemRandom, onCloseProblem: () => undefined };
  const kubernetes = { server: server.url, directory: account.directory };
  return strategyOf({ strategy: 'kubernetes', kubernetes, name: 'leaf' }).create(context).store;
}

function opened(): WorkerStore {
  stores.push(store());
  return stores.at(-1)!;
}

const open = (): Promise<WorkerStore> => Promise.resolve(store());
workerStoreContract('a real API server', {
  ...{ reset, open, numbers: false, onePerInstance: false, failNextWrite },
  remove: (what) =>
    server.ask('DELETE', `${leases()}/leaf-leaf-${what === 'document' ? 'registry' : `worker-${what.workerId}`}`),
});
workerRegistryContract('A pool in a real API server', { reset, store: open, exclusive: false });

it(`gives each of ${WORKERS} servers that start together a worker`, async () => {
  await reset();
  const client = { server: new URL(server.url), directory: account.directory, callMs: PATIENCE_MS };
  const clock = new SystemClock();
  const patient = () => Promise.resolve(new KubernetesWorkerStore(new KubernetesClient(client, clock), 'leaf', clock));
  const world = new WorkerWorld({ exclusive: false, reset: () => Promise.resolve(), store: patient });
  await raceForAll(world, WORKERS);
  await world.closeAll();
});

it('answers as the stand-in of the other tests', async () => {
  await reset();
  const api = await KubernetesApi.start();
  try {
    expect(await play(LEASE_REQUESTS, (...request) => api.ask(...request))).toEqual(
      await play(LEASE_REQUESTS, (method, path, body) => server.ask(method, leases() + path, body)),
    );
  } finally {
    await api.stop();
  }
});

describe('faults', () => {
  let rig: LeaseRig;
  let clock: FakeClock;

  beforeEach(async () => {
    await reset();
    clock = new FakeClock();
    const options = { policy: 'pool', leaseTtlMs: 60_000, maxClockOffsetMs: 0 } as const;
    rig = await new LeaseRig(clock, opened(), options).start();
  });

  it('names the Role that the account lacks', async () => {
    const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${account.namespace}`;
    await server.ask('DELETE', `${roles}/rolebindings/leaf-leases`);
    await server.ask('DELETE', `${roles}/roles/leaf-leases`);
    try {
      await expect(opened().list()).rejects.toMatchObject({
        code: 'LEAF_CONFIG_INVALID',
        message: expect.stringMatching(/cannot list resource "leases".*needs a Role with the verbs list, create/),
      });
    } finally {
      await server.grant(account.namespace);
    }
    expect(await opened().list()).toHaveLength(1);
  });

  it('refuses an expired token until the next one is mounted', async () => {
    await account.mountToken(-60);
    await expect(opened().list()).rejects.toMatchObject(UNREACHABLE);
    await account.mountToken(3600);
    await pass([rig], clock, REPORT_MS);
    expect([rig.failures, rig.losses]).toEqual([[], []]);
  });

  it.each([
    ['killed', () => server.kill(), () => server.restart()],
    ['suspended', () => server.suspend(), () => server.resume()],
  ])('keeps the worker of a holder while the server is %s', async (_, leave, comeBack) => {
    const { workerId } = rig;
    const { ceiling } = rig.lease;
    await leave();
    await clock.advance(REPORT_MS);
    await rig.report();
    expect(rig.failures).toEqual([expect.objectContaining(UNREACHABLE)]);
    expect(rig.lease.ceiling).toBe(ceiling);
    await comeBack();
    await pass([rig], clock, REPORT_MS);
    expect([rig.workerId, rig.losses, rig.registeredAgain]).toEqual([workerId, [], []]);
    expect(rig.lease.ceiling).toBeGreaterThan(ceiling);
  });

  it('registers the worker of a holder again when the Leases were deleted', async () => {
    await reset();
    await rig.report();
    expect(rig.registeredAgain).toEqual([rig.workerId]);
  });

  it('refuses a namespace that is being deleted', async () => {
    const { namespace, directory } = await server.createAccount('ending');
    await server.ask('DELETE', `/api/v1/namespaces/${namespace}`);
    const context = { clock: new SystemClock(), random: systemRandom, onCloseProblem: () => undefined };
    const kubernetes = { server: server.url, directory };
    const ending = strategyOf({ strategy: 'kubernetes', kubernetes, name: 'leaf' }).create(context).store;
    stores.push(ending);
    await expect(ending.readRegistry()).rejects.toMatchObject({
      message: expect.stringContaining('because it is being terminated'),
    });
    await rm(directory, { recursive: true });
  });
});
