import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';
import { InMemoryWorkerFile } from '../../../../../test/support/fakes/in-memory-worker-file';
import { inTime, LeaseRig, type LeaseRigOptions, REPORT_MS } from '../../../../../test/support/fakes/lease-rig';
import { FakeClock } from '../../clock/fake-clock';
import type { StoredRegistry, WorkerRecord } from '../records/worker-store';

const START = 1_700_000_000_000;
const HOUR = 3_600_000;
const LEASE_TTL = 10_000;
const OFFSET = 5000;

/** The clock of the server steps ahead during the first reply of the registry. */
class SteppingStore extends InMemoryWorkerStore {
  stepMs = 0;

  constructor(
    workers: InMemoryWorkers,
    private readonly clock: FakeClock,
  ) {
    super(workers);
  }

  override async readRegistry(): Promise<StoredRegistry> {
    this.clock.step(this.stepMs);
    this.stepMs = 0;
    return super.readRegistry();
  }
}

describe('A clock that steps ahead after it was compared', () => {
  let workers: InMemoryWorkers;
  let clock: FakeClock;
  let stepped: FakeClock;

  beforeEach(() => {
    workers = new InMemoryWorkers();
    clock = new FakeClock(START);
  });

  async function pass(ms: number): Promise<void> {
    await clock.advance(ms);
    await stepped.advance(ms);
  }

  it('does not shorten the wait for the ceiling of a running server with the same address', async () => {
    const one = await new LeaseRig(clock, new InMemoryWorkerStore(workers)).start();
    stepped = new FakeClock(clock.now());
    const two = new LeaseRig(stepped, new InMemoryWorkerStore(workers));
    const acquired = two.lease.acquire();
    const refused = expect(acquired).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
    await pass(REPORT_MS / 3);
    stepped.step(HOUR);
    await pass(REPORT_MS / 3);
    expect(two.terms).toStrictEqual([]);
    await one.report();
    await pass(REPORT_MS / 3);
    await refused;
    expect(one.ids.tryNext()).toBeDefined();
  });

  it('ends the wait where a registry loses no write', async () => {
    const store = new InMemoryWorkerStore(workers);
    const one = await new LeaseRig(clock, store, { remembers: true }).start();
    stepped = new FakeClock(clock.now());
    const two = new LeaseRig(stepped, store, { remembers: true });
    const acquired = two.lease.acquire();
    await pass(REPORT_MS / 3);
    stepped.step(HOUR);
    await pass(REPORT_MS / 3);
    await acquired;
    expect(two.terms).toMatchObject([{ workerId: 0 }]);
    // The record no longer belongs to the first server.
    await one.report();
    expect(one.losses).toMatchObject([{ code: 'LEAF_LEASE_LOST' }]);
    expect(two.terms[0]?.floor).toBeGreaterThanOrEqual(START + LEASE_TTL);
  });

  it('does not make a worker of a pool look expired', async () => {
    await new LeaseRig(clock, new InMemoryWorkerStore(workers), { policy: 'pool', maxWorkerId: 0 }).start();
    stepped = new FakeClock(clock.now());
    const store = new SteppingStore(workers, stepped);
    store.stepMs = 2 * HOUR;
    const two = new LeaseRig(stepped, store, { policy: 'pool', maxWorkerId: 0 });
    await expect(two.lease.acquire()).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
  });
});

describe('An acquisition', () => {
  let workers: InMemoryWorkers;
  let clock: FakeClock;
  let store: InMemoryWorkerStore;

  beforeEach(() => {
    workers = new InMemoryWorkers();
    clock = new FakeClock(START);
    store = new InMemoryWorkerStore(workers);
  });

  const server = (options: LeaseRigOptions = {}): LeaseRig => new LeaseRig(clock, store, options);
  const left = (): WorkerRecord => workers.records.get(0)!.record;

  it('waits for a ceiling as far ahead as a right clock may find it', async () => {
    await server({ remembers: true }).start();
    clock.step(-OFFSET);
    const next = await server({ remembers: true }).start();
    expect(next.waits).toMatchObject([{ code: 'LEAF_NOT_READY', retryAfterMs: LEASE_TTL + OFFSET + 1 }]);
    expect(clock.now()).toBeGreaterThan(START + LEASE_TTL);
  });

  it.each([
    ['a report of the same ceiling', { write: 2 }],
    ['another lease with the same write', { leaseId: 'twin' }],
  ])('gives way to a process that has written %s', async (_, change) => {
    await server({ remembers: true }).start();
    const refused = expect(server({ remembers: true }).lease.acquire()).rejects.toMatchObject({
      code: 'LEAF_WORKER_HELD',
    });
    await clock.advance(0);
    workers.replace(workers.records.get(0)!, { ...left(), ...change });
    await inTime(clock, refused);
  });

  it('gives way at once to a process that was faster', async () => {
    await server({ remembers: true }).start();
    await clock.advance(LEASE_TTL + 1);
    const began = clock.now();
    store.replace = (found) => {
      workers.replace(found, { ...left(), leaseId: 'twin', ceiling: clock.now() + LEASE_TTL });
      return Promise.resolve(undefined);
    };
    await expect(server({ remembers: true }).start()).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
    expect(clock.now()).toBe(began);
  });

  it('begins again when the registry loses its history before the acquisition has ended', async () => {
    const copy = workers.copy();
    store.create = async (...created) => {
      store.create = InMemoryWorkerStore.prototype.create.bind(store);
      await store.create(...created);
      workers.promote(copy, 'b');
      return { workerId: 0, record: created[1], version: 'lost' };
    };
    const one = await server().start();
    expect(one.terms[0]!.floor).toBeGreaterThanOrEqual(workers.document!.floor!);
    expect(left()).toMatchObject({ write: 2, ceiling: one.lease.ceiling });
  });

  it('takes a record that is released while it waits', async () => {
    const one = await server({ remembers: true }).start();
    const next = server({ remembers: true });
    const acquired = next.lease.acquire();
    await clock.advance(0);
    await one.lease.release();
    await inTime(clock, acquired);
    expect(clock.now()).toBeLessThan(START + REPORT_MS);
  });

  it('gives a worker ID outside of its range to nobody', async () => {
    const usedUp = { code: 'LEAF_WORKERS_USED_UP' };
    await expect(server({ workers: { first: 1, last: 3 } }).start()).rejects.toMatchObject(usedUp);
    await expect(server({ workers: { first: 0, last: 0 } }).start()).resolves.toMatchObject({ workerId: 0 });
  });

  it('starts above all that a Java server with this address may have issued', async () => {
    await server({ instance: { port: 1 } }).start();
    const record = { instance: { ip: '10.0.0.7', port: 8080 }, leaseId: undefined, write: 0, free: false };
    workers.create(workers.registry(), { ...record, ceiling: clock.now() }, 1);
    const began = clock.now();
    expect((await server().start()).terms).toEqual([{ workerId: 1, floor: began + OFFSET }]);
  });

  describe('with a worker file', () => {
    let file: InMemoryWorkerFile;
    beforeEach(() => (file = new InMemoryWorkerFile()));

    it('names its lease there before it writes, so that the next process knows the record', async () => {
      await server({ file }).start();
      await clock.advance(LEASE_TTL + 1);
      const ending = new InMemoryWorkerStore(workers);
      ending.replace = async (...written) => {
        await InMemoryWorkerStore.prototype.replace.apply(ending, written);
        // The process ends here.
        return new Promise(() => undefined);
      };
      void new LeaseRig(clock, ending, { file }).lease.acquire();
      await clock.advance(0);
      const { leaseId, ceiling } = left();
      expect(file.record).toMatchObject({ attempt: leaseId, state: 'held' });
      const next = await server({ file }).start();
      expect([next.terms, file.record?.attempt]).toEqual([[{ workerId: 0, floor: ceiling }], undefined]);
    });

    it.each([
      ['of this registry', {}, 1],
      ['of another registry', { registry: 'another' }, 0],
    ])('takes the same worker ID again in an emptied registry, by a file %s', async (_, changed, workerId) => {
      await server({ instance: { port: 1 } }).start();
      await server({ file }).start();
      workers.wipe();
      file.record = { ...file.record!, ...changed };
      await clock.advance(HOUR);
      const next = await server({ file }).start();
      expect(next.workerId).toBe(workerId);
      // It holds the worker ID: the file replaces the registry again.
      store.line = 'down';
      await clock.advance(REPORT_MS);
      await next.report();
      expect(next.lease.ceiling).toBe(clock.now() + LEASE_TTL);
    });
  });
});
