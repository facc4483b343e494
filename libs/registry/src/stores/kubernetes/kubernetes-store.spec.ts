import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type StoredRegistry, SystemClock, type WorkerRecord, type WorkerStore } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { KubernetesApi } from '../../../../../test/support/fakes/kubernetes-api';
import { inTime } from '../../../../../test/support/fakes/lease-rig';
import { KubernetesClient } from './kubernetes-client';
import { KubernetesWorkerStore } from './kubernetes-store';

const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };
let api: KubernetesApi;

beforeAll(async () => (api = await KubernetesApi.start()));
afterAll(() => api.stop());

function open(clock: Clock = new SystemClock(), name = 'leaf'): WorkerStore {
  const client = new KubernetesClient({ server: new URL(api.url), directory: api.directory, callMs: 2000 }, clock);
  return new KubernetesWorkerStore(client, name, clock);
}

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
    expect(await store.peers(Date.now())).toStrictEqual([]);
    expect(api.leases.get('leaf-leaf-worker-17')?.spec).not.toHaveProperty('holderIdentity');
  });

  it('shows the time of the last report, and how long the lease lasts', async () => {
    const now = 1_700_000_000_000;
    const other = open(new FakeClock(now));
    const specOf = (n: number): unknown => api.leases.get(`leaf-leaf-worker-${n}`)?.spec;
    const renewTime = '2023-11-14T22:13:20.000000Z';
    await other.create(registry, { ...record, ceiling: now + 60_001 }, 1);
    expect(specOf(1)).toEqual({ holderIdentity: '10.0.0.7:8080', leaseDurationSeconds: 61, renewTime });
    await other.create(registry, { ...record, ceiling: now - 60_000 }, 2);
    expect(specOf(2)).toMatchObject({ leaseDurationSeconds: 1 });
    await other.create(registry, { ...record, free: true }, 3);
    expect(specOf(3)).toEqual({ renewTime });
    await other.close();
  });

  it('does not see the Leases of another service in its namespace', async () => {
    const other = open(new SystemClock(), 'leaf-2');
    await other.create(await other.readRegistry(), record, 3);
    expect(await store.list()).toStrictEqual([]);
    await store.create(registry, record, 4);
    expect((await store.list()).map(({ workerId }) => workerId)).toEqual([4]);
    expect((await other.list()).map(({ workerId }) => workerId)).toEqual([3]);
    expect(store.description).toBe(`${api.url}/leaf-leaf`);
    await other.close();
  });

  it('is not reachable once it is closed', async () => {
    await store.close();
    await expect(store.list()).rejects.toMatchObject(UNREACHABLE);
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

  /** Makes records 0, 1, … without a request for each. */
  async function fill(size: number): Promise<void> {
    await store.create(registry, record, 0);
    const { metadata, spec } = api.leases.get('leaf-leaf-worker-0')!;
    for (let n = 1; n < size; n++) {
      const name = `leaf-leaf-worker-${n}`;
      api.leases.set(name, { metadata: { ...metadata, name }, ...(spec && { spec }) });
    }
  }

  it('reads a list in pages, and begins again when they expire', async () => {
    const size = 1024;
    await fill(size);
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
    expect(await store.list()).toStrictEqual([]);
    const old = await readFile(join(api.directory, 'token'), 'utf8');
    await api.rotate(false);
    await expect(store.list()).rejects.toMatchObject(UNREACHABLE);
    await writeFile(join(api.directory, 'token'), old);
    await api.rotate();
    expect(await store.list()).toStrictEqual([]);
  });

  it('honours Retry-After of a throttling server, up to a limit', async () => {
    const clock = new FakeClock();
    const other = open(clock);
    Object.assign(api, { throttled: 2, retryAfter: 3 });
    const began = clock.monotonic();
    expect(await inTime(clock, other.list())).toStrictEqual([]);
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

  it('refuses a document and a record that it cannot read, and skips such a record in the list', async () => {
    await store.create(registry, record, 3);
    for (const { metadata } of api.leases.values()) metadata.annotations = { 'leaf-ids/record': '{"torn' };
    const refusal = (lease: string): object => ({
      code: 'LEAF_WORKER_FILE_INVALID',
      message: expect.stringContaining(`The Lease ${lease} of ${api.url}/leaf-leaf has data`) as string,
    });
    await expect(store.readRegistry()).rejects.toMatchObject(refusal('leaf-leaf-registry'));
    await expect(store.read(3, instance)).rejects.toMatchObject(refusal('leaf-leaf-worker-3'));
    expect(await store.list()).toStrictEqual([]);
    for (const { metadata } of api.leases.values()) delete metadata.annotations;
    expect(await open().readRegistry()).toMatchObject({ document: undefined });
    expect(await store.list()).toStrictEqual([]);
  });

  it('gives up when every list expires, or the document is deleted again and again', async () => {
    await fill(501);
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
});
