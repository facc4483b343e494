import { InMemoryWorkerFile } from '../../../../../test/support/fakes/in-memory-worker-file';
import { inTime, LeaseRig, type LeaseRigOptions } from '../../../../../test/support/fakes/lease-rig';
import { failNextWrite } from '../../../../../test/support/fakes/lost-answers';
import { FakeClock } from '../../clock/fake-clock';
import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';
import type { WorkerRecord } from '../records/worker-store';

const LEASE_TTL = 10_000;
const OFFSET = 5000;
const GRACE = LEASE_TTL + OFFSET;

describe('A server that acquires a worker ID', () => {
  let workers: InMemoryWorkers;
  let clock: FakeClock;
  let store: InMemoryWorkerStore;

  beforeEach(() => {
    workers = new InMemoryWorkers();
    clock = new FakeClock();
    store = new InMemoryWorkerStore(workers);
  });

  const server = (options: LeaseRigOptions = {}): LeaseRig => new LeaseRig(clock, store, options);
  const recordOf = (workerId: number): WorkerRecord => workers.records.get(workerId)!.record;

  /** Another server has started, so that the registry is not new. */
  async function settle(options: LeaseRigOptions = {}): Promise<LeaseRig> {
    return server({ instance: { port: 1 }, ...options }).start();
  }

  /** Changes a record, as another program does. */
  function change(workerId: number, to: Partial<WorkerRecord>): void {
    workers.replace(workers.records.get(workerId)!, { ...recordOf(workerId), ...to });
  }

  it('issues only above the floor of the registry', async () => {
    const one = await settle();
    expect(one.terms).toEqual([{ workerId: 0, floor: workers.document!.floor }]);
    const next = await server().start();
    expect(next.terms).toEqual([{ workerId: 1, floor: workers.document!.floor }]);
  });

  it('says for how long a new registry has it wait', async () => {
    const one = await settle();
    expect(one.waits).toMatchObject([{ code: 'LEAF_NOT_READY', retryAfterMs: GRACE }]);
  });

  it('waits no longer than a server that has observed the registry for longer', async () => {
    const first = server({ instance: { port: 1 } }).lease.acquire();
    await clock.advance(GRACE - 1000);
    const next = server();
    const acquired = next.lease.acquire();
    await clock.advance(1500);
    await Promise.all([first, acquired]);
    expect(next.workerId).toBe(1);
  });

  it('begins no registry by a clock that others contradict', async () => {
    const acquired = expect(server().lease.acquire()).rejects.toMatchObject({ code: 'LEAF_CLOCK_OFFSET' });
    await clock.advance(1000);
    store.sources = [{ name: '10.0.0.8:8080', ask: () => Promise.resolve(clock.now() + 60_000) }];
    await inTime(clock, acquired);
    expect(workers.document!.floor).toBeUndefined();
  });

  it('waits for the document of an emptied registry while worker IDs may be in use', async () => {
    await settle();
    workers.document = undefined;
    const next = server();
    const acquired = next.lease.acquire();
    await clock.advance(0);
    expect(next.waits).toMatchObject([{ code: 'LEAF_NOT_READY', retryAfterMs: 3000 }]);
    await inTime(clock, acquired);
    expect(next.terms[0]!.floor).toBeGreaterThan(recordOf(0).ceiling);
  });

  it('is announced to the other servers', async () => {
    const announce = jest.spyOn(store, 'announce');
    const one = await settle();
    expect(announce.mock.calls).toEqual([[{ ip: '10.0.0.7', port: 1 }, one.workerId]]);
  });

  it('takes no number beyond its range that the registry gives', async () => {
    await settle();
    const refused = server({ workers: { first: 0, last: 0 } }).start();
    await expect(refused).rejects.toMatchObject({
      code: 'LEAF_WORKERS_USED_UP',
      message: expect.stringContaining(
        'assigned worker ID 1 to 10.0.0.7:8080, but this server can have only 0 to 0',
      ) as string,
    });
  });

  it.each([
    [LEASE_TTL + OFFSET, true],
    [LEASE_TTL + OFFSET + 1, false],
  ])('waits for a ceiling that is %d ms ahead: %s', async (ms, waits) => {
    await settle({ remembers: true });
    await server({ remembers: true }).start();
    change(1, { ceiling: clock.now() + ms, leaseId: 'former' });
    const { ceiling } = recordOf(1);
    const next = server({ remembers: true });
    if (!waits) {
      await expect(next.start()).rejects.toMatchObject({
        code: 'LEAF_CLOCK_BEHIND',
        message: expect.stringMatching(/is 15001 ms behind .* waits for at most 15000 ms/) as string,
      });
      return;
    }
    await next.start();
    expect(next.terms).toEqual([{ workerId: 1, floor: ceiling }]);
    expect(clock.now()).toBeGreaterThan(ceiling);
  });

  it('waits for the longest lease TTL of the registry, and not longer', async () => {
    await settle({ leaseTtlMs: 60_000, remembers: true });
    await server({ remembers: true }).start();
    change(1, { ceiling: clock.now() + 65_001, leaseId: 'former' });
    await expect(server({ remembers: true }).start()).rejects.toMatchObject({ code: 'LEAF_CLOCK_BEHIND' });
    change(1, { ceiling: clock.now() + 65_000, leaseId: 'former' });
    expect(await server({ remembers: true }).start()).toMatchObject({ workerId: 1 });
  });

  it('reads the record of another server in a pool once, and takes it', async () => {
    await settle({ policy: 'pool', maxWorkerId: 0 });
    const ceiling = clock.now();
    change(0, { free: true, ceiling });
    const read = jest.spyOn(store, 'read');
    const next = await server({ policy: 'pool', maxWorkerId: 0 }).start();
    expect([next.terms, read.mock.calls]).toEqual([[{ workerId: 0, floor: ceiling }], []]);
  });

  it('takes its own record back when an acquisition without an answer was applied late', async () => {
    await settle({ remembers: true });
    const one = await server({ remembers: true }).start();
    await clock.advance(LEASE_TTL + 1);
    const next = server({ remembers: true });
    failNextWrite(store, 'after');
    await expect(next.start()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    const began = clock.now();
    await next.start();
    // It knows what it has replaced, so it need not wait for the ceiling of its own.
    expect([next.terms, clock.now()]).toEqual([[{ workerId: 1, floor: one.lease.ceiling }], began]);
  });

  it('keeps its record of a pool when the registry loses its history before it has confirmed it', async () => {
    await settle({ policy: 'pool' });
    const create = store.create.bind(store);
    store.create = async (...made) => {
      store.create = create;
      const stored = await create(...made);
      workers.promote(workers.copy(), 'b');
      return stored;
    };
    const next = await server({ policy: 'pool' }).start();
    expect(workers.records.size).toBe(2);
    expect(recordOf(next.workerId!)).toMatchObject({ write: 2, free: false });
  });

  it.each([
    ['a release', { free: true, ceiling: 0 }, undefined],
    ['a lower ceiling', { ceiling: 0 }, 'LEAF_WORKER_HELD'],
  ])('reads its record again while it waits, and sees %s', async (_, to, code) => {
    await settle({ remembers: true });
    await server({ remembers: true }).start();
    const next = server({ remembers: true });
    const began = clock.now();
    const acquired = next.start();
    await clock.advance(500);
    change(1, to);
    if (code === undefined) expect(await acquired).toMatchObject({ workerId: 1 });
    else await expect(acquired).rejects.toMatchObject({ code });
    expect(clock.now()).toBeLessThan(began + 1500);
  });

  it('takes a new worker ID at once when its record is removed while it waits', async () => {
    await settle();
    await server().start();
    const next = server();
    const began = clock.now();
    const acquired = next.start();
    await clock.advance(500);
    workers.records.delete(1);
    expect(await acquired).toMatchObject({ workerId: 2 });
    expect(clock.now()).toBeLessThan(began + 1500);
  });

  it('recognizes its own write that is applied while it waits', async () => {
    await settle({ remembers: true });
    await server({ remembers: true }).start();
    await clock.advance(LEASE_TTL + 1);
    const next = server({ remembers: true });
    store.line = 'writes come late';
    await expect(next.start()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    store.line = 'up';
    clock.step(-3000);
    const acquired = next.start();
    await clock.advance(500);
    store.deliver();
    expect(await acquired).toMatchObject({ workerId: 1 });
  });

  it('takes a released worker ID back without a wait', async () => {
    await settle();
    const one = await server().start();
    await one.lease.release();
    const began = clock.now();
    const next = await server().start();
    expect([next.workerId, next.waits.length, clock.now() - began <= 100]).toEqual([1, 0, true]);
  });

  it.each([
    [LEASE_TTL, true],
    [LEASE_TTL + 1, false],
  ])('waits for a floor that is %d ms ahead: %s', async (ms, waits) => {
    await settle();
    const { floor } = workers.document!;
    clock.step(floor! - ms - clock.now());
    const started = server().start();
    if (waits) await expect(started).resolves.toMatchObject({ terms: [{ workerId: 1, floor }] });
    else await expect(started).rejects.toThrow(/is 10001 ms behind .* waits for at most 10000 ms/);
  });

  it('tries the next worker ID of a pool when another server takes the first one', async () => {
    await settle({ policy: 'pool', maxWorkerId: 1 });
    await server({ policy: 'pool', maxWorkerId: 1, instance: { port: 2 } }).start();
    for (const workerId of [0, 1]) change(workerId, { free: true, ceiling: clock.now() });
    const replace = store.replace.bind(store);
    store.replace = async (found) => {
      store.replace = replace;
      change(found.workerId, { free: false, leaseId: 'another', ceiling: clock.now() + 3_600_000 });
      return Promise.resolve(undefined);
    };
    const next = await server({ policy: 'pool', maxWorkerId: 1 }).start();
    expect(recordOf(next.workerId!)).toMatchObject({ instance: { port: 8080 } });
    expect(recordOf(1 - next.workerId!)).toMatchObject({ leaseId: 'another' });
  });

  it('writes the document again that is removed while it acquires', async () => {
    await settle();
    const create = store.create.bind(store);
    store.create = async (...made) => {
      store.create = create;
      const stored = await create(...made);
      workers.document = undefined;
      return stored;
    };
    const next = await server().start();
    expect(next.workerId).toBe(1);
    expect(next.terms[0]!.floor).toBeGreaterThanOrEqual(workers.document!.floor!);
  });

  it('does not mark a worker ID as lost in its file that it has released', async () => {
    const file = new InMemoryWorkerFile();
    const one = await server({ file }).start();
    await one.lease.release();
    const { record } = file;
    expect(record).toMatchObject({ state: 'released' });
    workers.wipe();
    await settle({ layout: 'another layout' });
    await expect(server({ file }).start()).rejects.toMatchObject({ code: 'LEAF_LAYOUT_MISMATCH' });
    expect(file.record).toEqual(record);
  });
});
