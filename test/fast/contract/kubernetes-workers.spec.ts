import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type StoredRegistry, SystemClock, type WorkerRecord, type WorkerStore } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { type KubernetesOptions } from '../../../libs/registry/src/strategies/kubernetes';
import { registryRule, strategyOf } from '../../../libs/registry/src/strategies/strategies';
import { KubernetesApi } from '../../support/fakes/kubernetes-api';
import { inTime, LeaseRig, type LeaseRigOptions, pass } from '../../support/fakes/lease-rig';
import { failNextWrite } from '../../support/fakes/lost-answers';
import { workerRegistryContract } from '../../support/contract/worker-registry.contract';
import { workerStoreContract } from '../../support/contract/worker-store.contract';

const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };
let api: KubernetesApi;

beforeAll(async () => (api = await KubernetesApi.start()));
afterAll(() => api.stop());

function open(more: Partial<KubernetesOptions> = {}, clock: Clock = new SystemClock()): WorkerStore {
  return partsOf(more, clock).store;
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

describe('a store in Kubernetes', () => {
  let store: WorkerStore;
  let registry: StoredRegistry;
  const instance = { ip: '10.0.0.7', port: 8080 };
  let record: WorkerRecord;

  beforeEach(async () => {
    api.wipe();
    store = open();
    record = { instance, leaseId: 'f00d', write: 1, ceiling: Date.now() + 60_000, free: false };
    registry = await store.readRegistry();
  });
  afterEach(() => store.close());

  it('shows the holder to kubectl, until it is released', async () => {
    const made = await store.create(registry, record, 17);
    const lease = api.leases.get('leaf-leaf-worker-17');
    expect(lease?.spec).toMatchObject({ holderIdentity: '10.0.0.7:8080' });
    expect(Math.abs(lease!.spec!.leaseDurationSeconds! - 60)).toBeLessThan(10);
    expect(lease?.metadata.labels).toEqual({
      'app.kubernetes.io/name': 'leaf',
      'app.kubernetes.io/instance': 'leaf',
      'app.kubernetes.io/component': 'worker',
    });
    expect(await store.peers(Date.now())).toEqual([{ instance: '10.0.0.7:8080', workerId: 17 }]);
    await store.replace(made!, { ...record, free: true });
    expect(await store.peers(Date.now())).toEqual([]);
    expect(api.leases.get('leaf-leaf-worker-17')?.spec).not.toHaveProperty('holderIdentity');
  });

  it('keeps any text of a holder', async () => {
    const odd = { ...record, instance: { ip: 'Büro 7, "rack" \\ {"state":"x"}', port: 1 }, leaseId: 'f'.repeat(64) };
    await store.create(registry, odd, 3);
    expect((await store.read(3, odd.instance))?.record).toEqual(odd);
  });

  it('does not create a Lease again that was deleted', async () => {
    const made = await store.create(registry, record, 17);
    api.wipe();
    expect(await store.replace(made!, { ...record, write: 2 })).toBeUndefined();
    expect(await store.writeRegistry(registry, { ...document, origin: registry.origin })).toBe(false);
    expect(api.leases.size).toBe(0);
    await store.create(registry, record, 17);
    expect(await store.replace(made!, { ...record, write: 2 })).toBeUndefined();
  });

  const document = {
    ...{ id: 'f00', madeAt: 1, strategy: 'kubernetes', layout: 'a', highest: -1, generation: 1, began: 1, floor: 1 },
  };

  it('has another origin in a namespace that was created again, and for Leases restored from their texts', async () => {
    await store.writeRegistry(registry, { ...document, origin: registry.origin });
    const known = await store.readRegistry();
    expect(known.origin).toBe(registry.origin);
    const [lease] = [...api.leases.values()];
    api.wipe();
    const other = open();
    const emptied = await other.readRegistry();
    expect(emptied).toMatchObject({ document: undefined });
    expect(emptied.origin).not.toBe(known.origin);
    const { uid, resourceVersion } = api.leases.get(lease!.metadata.name)!.metadata;
    api.leases.set(lease!.metadata.name, {
      ...lease!,
      metadata: { ...lease!.metadata, uid, resourceVersion } as never,
    });
    const restored = await other.readRegistry();
    expect(restored.document).toEqual(known.document);
    expect(restored.origin).not.toBe(known.origin);
    await other.close();
  });

  it('has another origin after the API server went back in time, for a server that has seen more', async () => {
    await store.writeRegistry(registry, { ...document, origin: registry.origin });
    const restore = api.backUp();
    await store.create(registry, record, 17);
    restore();
    expect((await store.readRegistry()).origin).not.toBe(registry.origin);
  });

  it('reads a list in pages, and begins again when they expire', async () => {
    const size = 1024;
    for (let n = 0; n < size; n++) await store.create(registry, record, n);
    const before = api.requests;
    expect(await store.list()).toHaveLength(size);
    expect(api.requests - before).toBe(3);
    const listing = store.list();
    while (api.requests - before < 4) await new Promise((resolve) => setImmediate(resolve));
    api.compact();
    expect(await listing).toHaveLength(size);
    expect(api.requests - before).toBeGreaterThan(6);
  });

  it('reads the token again when it has expired, and refuses without a valid one', async () => {
    await api.rotate();
    expect(await store.list()).toEqual([]);
    const old = await readFile(join(api.directory, 'token'), 'utf8');
    await api.rotate(false);
    await expect(store.list()).rejects.toMatchObject(UNREACHABLE);
    await writeFile(join(api.directory, 'token'), old);
    await api.rotate();
    expect(await store.list()).toEqual([]);
  });

  it('honours Retry-After of a throttling server, up to a limit', async () => {
    const clock = new FakeClock();
    const other = open({}, clock);
    Object.assign(api, { throttled: 2, retryAfter: 3 });
    const began = clock.monotonic();
    expect(await inTime(clock, other.list())).toEqual([]);
    expect(clock.monotonic() - began).toBeGreaterThanOrEqual(6000);
    Object.assign(api, { throttled: 3, retryAfter: 40 });
    await expect(inTime(clock, other.list())).rejects.toMatchObject({ ...UNREACHABLE, retryAfterMs: 40_000 });
    await other.close();
  });

  it('recognizes a write whose answer was lost, and does not write it again', async () => {
    api.lost = 1;
    const made = await store.create(registry, record, 17);
    expect(made).toEqual(await store.read(17, instance));
    expect(made?.record).toEqual(record);
    api.lost = 1;
    const written = await store.replace(made!, { ...record, write: 2 });
    expect(written).toEqual(await store.read(17, instance));
    expect(written?.record.write).toBe(2);
  });

  it('does not take the record of another server for a write whose answer was lost', async () => {
    const made = await store.create(registry, record, 17);
    Object.assign(api, { throttled: 1, retryAfter: 0 });
    expect(await store.create(registry, { ...record, leaseId: 'beef' }, 17)).toBeUndefined();
    await store.replace(made!, { ...record, write: 2 });
    api.throttled = 1;
    expect(await store.replace(made!, { ...record, write: 3 })).toBeUndefined();
    expect(await store.list()).toHaveLength(1);
  });

  it.each([
    ['list', () => store.list()],
    ['create', () => store.create(registry, record, 17)],
    ['update', () => store.writeRegistry(registry, { ...document, origin: '' })],
  ] as const)('names the Role that lacks the verb %s', async (verb, act) => {
    api.verbs.delete(verb);
    try {
      const message = expect.stringMatching(
        `cannot ${verb} resource "leases".*needs a Role with the verbs list, create`,
      );
      await expect(act()).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID', message });
    } finally {
      api.verbs.add(verb);
    }
  });

  it('compares the clock with that of the API server', async () => {
    const [source] = await store.timeSources();
    expect(Math.abs((await source!.ask()) - Date.now())).toBeLessThan(2000);
  });

  it('names the file that is not mounted', async () => {
    const other = open({ kubernetes: { server: api.url, directory: '/missing' } });
    const message = expect.stringContaining('/missing/namespace') as string;
    await expect(other.list()).rejects.toMatchObject({ ...UNREACHABLE, message });
    await other.close();
  });

  it('refuses a document and a record that it cannot read, and skips such a record in the list', async () => {
    await store.create(registry, record, 3);
    for (const { metadata } of api.leases.values()) metadata.annotations = { 'leaf-ids/record': '{"torn' };
    const INVALID = { code: 'LEAF_WORKER_FILE_INVALID' };
    await expect(store.readRegistry()).rejects.toMatchObject(INVALID);
    await expect(store.read(3, instance)).rejects.toMatchObject(INVALID);
    expect(await store.list()).toEqual([]);
    for (const { metadata } of api.leases.values()) delete metadata.annotations;
    expect(await open().readRegistry()).toMatchObject({ document: undefined });
    expect(await store.list()).toEqual([]);
  });

  it('gives up when every list expires, or the document is deleted again and again', async () => {
    for (let n = 0; n < 501; n++) await store.create(registry, record, n);
    api.shortLived = true;
    await expect(store.list()).rejects.toMatchObject(UNREACHABLE);
    api.wipe();
    await expect(store.readRegistry()).rejects.toMatchObject(UNREACHABLE);
    api.shortLived = false;
  });

  it('assigns no worker ID by itself, and an empty version matches no record', async () => {
    expect(await store.create(registry, record, undefined)).toBeUndefined();
    await store.create(registry, record, 3);
    expect(await store.replace({ workerId: 3, record, version: '' }, record)).toBeUndefined();
  });

  it('takes the preferred worker ID only if it is free', async () => {
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
});

it('refuses names that a label or a Lease cannot have', () => {
  for (const name of ['Leaf', 'leaf_1', '-leaf', 'l'.repeat(64)]) {
    const faults = registryRule({ strategy: 'kubernetes', kubernetes: { server: api.url }, name }, 'registry');
    expect(faults).toMatchObject([{ path: 'registry.name' }]);
  }
});
