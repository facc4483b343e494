import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';
import { LeaseRig, pass, POOL_GRACE_MS, REPORT_MS } from '../../../../../test/support/fakes/lease-rig';
import { FakeClock } from '../../clock/fake-clock';
import type { StoredRegistry, StoredWorker } from '../records/worker-store';
import { attemptsOf, type FileRecord, WorkerFile, withAttempt } from '../records/worker-file';

const START = 1_700_000_000_000;

/** A worker file on a host whose clock steps back an hour while the file is written for the first time. */
class SteppingFile extends WorkerFile {
  readonly path = 'memory';
  private record: FileRecord = {
    ...{ instance: '10.0.0.7:8080', registry: 'another', registryId: 'r', generation: 1, layout: 'l', workerId: 0 },
    ...{ ceiling: 0, leaseId: 'l', write: 1, attempted: 1, attempt: undefined, state: 'held' },
  };
  private stepped = false;

  constructor(private readonly clock: FakeClock) {
    super();
  }

  open(): Promise<FileRecord> {
    return Promise.resolve(this.record);
  }

  write(record: FileRecord): Promise<void> {
    this.record = record;
    if (!this.stepped) this.clock.step(-3_600_000);
    this.stepped = true;
    return Promise.resolve();
  }

  close(): void {
    this.stepped = true;
  }
}

/** The next reply to a read is the last one before a failover. */
class FailoverAfterRead extends InMemoryWorkerStore {
  failover: (() => void) | undefined;

  override async readRegistry(): Promise<StoredRegistry> {
    return this.failOver(await super.readRegistry());
  }

  override async read(workerId: number): Promise<StoredWorker | undefined> {
    return this.failOver(await super.read(workerId));
  }

  private failOver<T>(answer: T): T {
    this.failover?.();
    this.failover = undefined;
    return answer;
  }
}

it('A failover between two reads of the registry does not lose the lease', async () => {
  const clock = new FakeClock(START);
  const workers = new InMemoryWorkers();
  const store = new FailoverAfterRead(workers);
  const one = await new LeaseRig(clock, store).start();
  const copy = workers.copy();
  await one.report();
  store.line = 'answers are lost';
  await one.report();
  store.line = 'up';
  store.failover = () => workers.promote(copy, 'b');
  await pass([one], clock, 2 * REPORT_MS);
  expect(store.failover).toBeUndefined();
  expect(one.losses).toStrictEqual([]);
  expect(one.registeredAgain).toEqual([0]);
});

it.each(['fixed', 'pool'] as const)(
  'A record in a %s registry that is deleted in the grace period is registered again, and after it the lease is lost',
  async (policy) => {
    const clock = new FakeClock(START);
    const workers = new InMemoryWorkers();
    const one = await new LeaseRig(clock, new InMemoryWorkerStore(workers), { policy, leaseTtlMs: 3_600_000 }).start();
    const { workerId } = one;
    workers.wipe();
    for (let deletion = 0; deletion < 2; deletion++) {
      await one.report();
      workers.records.clear();
    }
    await one.report();
    expect([one.registeredAgain, one.losses]).toEqual([[workerId, workerId, workerId], []]);
    expect(workers.records.get(workerId!)?.record.ceiling).toBe(one.lease.ceiling);
    while (workers.document?.floor === undefined) await pass([one], clock, REPORT_MS);
    workers.records.clear();
    await one.report();
    expect(one.losses).toMatchObject([{ code: 'LEAF_LEASE_LOST' }]);
  },
);

describe('A registry that loses its history twice', () => {
  it('distinguishes two failovers to copies of the same age', async () => {
    const clock = new FakeClock(START);
    const workers = new InMemoryWorkers();
    const one = await new LeaseRig(clock, new InMemoryWorkerStore(workers)).start();
    const copy = workers.copy();
    await one.report();
    for (const origin of ['b', 'c']) {
      workers.promote(copy, origin);
      await one.report();
      expect(one.losses).toStrictEqual([]);
    }
    expect(one.terms).toHaveLength(1);
  });

  it('distinguishes two failovers to copies with the same origin, as two PostgreSQL replicas that start the same timeline', async () => {
    const clock = new FakeClock(START);
    const workers = new InMemoryWorkers();
    const one = await new LeaseRig(clock, new InMemoryWorkerStore(workers)).start();
    const copy = workers.copy();
    await one.report();
    for (let failover = 0; failover < 2; failover++) {
      workers.promote(copy, 'b');
      await pass([one], clock, REPORT_MS);
      expect(one.losses).toStrictEqual([]);
    }
    expect(one.terms).toHaveLength(1);
  });
});

it('A holder that has registered again writes the floor even if its first write of it loses a race', async () => {
  const clock = new FakeClock(START);
  const workers = new InMemoryWorkers();
  const store = new InMemoryWorkerStore(workers);
  const one = await new LeaseRig(clock, store, { policy: 'pool' }).start();
  workers.wipe();
  const write = store.writeRegistry.bind(store);
  let lost = 0;
  store.writeRegistry = (read, document) => {
    // The maintenance of another server changes the document first.
    if (document.floor !== undefined && ++lost === 1) workers.document = { ...workers.document!, highest: 1 };
    return write(read, document);
  };
  await pass([one], clock, 10 * POOL_GRACE_MS);
  expect(lost).toBe(2);
  expect(workers.document?.floor).toEqual(expect.any(Number));
});

it('A replaced holder in a pool acquires another worker instead of ending permanently', async () => {
  const clock = new FakeClock(START);
  const workers = new InMemoryWorkers();
  const one = await new LeaseRig(clock, new InMemoryWorkerStore(workers), { policy: 'pool', maxWorkerId: 0 }).start();
  const { record, version } = workers.records.get(0)!;
  workers.replace({ workerId: 0, record, version }, { ...record, leaseId: 'other', ceiling: clock.now() + 20_000 });
  await one.report();
  expect(one.losses).toStrictEqual([]);
  expect(one.workerId).toBeUndefined();
});

it('A report never lowers the ceiling below the floor, however far the clock steps back', async () => {
  const clock = new FakeClock(START);
  const workers = new InMemoryWorkers();
  const rig = (): LeaseRig => new LeaseRig(clock, new InMemoryWorkerStore(workers), { remembers: true });
  await rig().start();
  // The first server has died; its successor starts above the reserved time.
  const next = await rig().start();
  clock.step(-3_600_000);
  await next.report();
  expect(workers.records.get(0)?.record.ceiling).toBe(next.terms[0]!.floor);
});

it('An acquisition never records a ceiling below what it has read, even if the clock steps back', async () => {
  const clock = new FakeClock(START);
  const workers = new InMemoryWorkers();
  const store = new InMemoryWorkerStore(workers);
  await new LeaseRig(clock, store, { remembers: true }).start();
  const { ceiling } = workers.records.get(0)!.record;
  await clock.advance(10_001);
  const file = new SteppingFile(clock);
  const next = await new LeaseRig(clock, store, { remembers: true, file }).start();
  expect(clock.now()).toBeLessThan(START);
  expect(workers.records.get(0)!.record).toMatchObject({ ceiling });
  expect(next.ids.tryNext()).toBeUndefined();
});

it('A server in a pool whose record was freed after a failover may take it again', async () => {
  const clock = new FakeClock(START);
  const workers = new InMemoryWorkers();
  const one = await new LeaseRig(clock, new InMemoryWorkerStore(workers), { policy: 'pool', maxWorkerId: 0 }).start();
  const { record, version } = workers.records.get(0)!;
  workers.replace({ workerId: 0, record, version }, { ...record, free: true, ceiling: clock.now() });
  workers.promote(workers.copy(), 'b');
  await clock.advance(3_600_000);
  await pass([one], clock, 10 * REPORT_MS);
  expect(one.workerId).toBe(0);
});

it('A worker file keeps its newest attempts', () => {
  expect(attemptsOf(undefined)).toStrictEqual([]);
  expect(withAttempt(withAttempt(undefined, 'a'), 'b')).toBe('a b');
  expect(withAttempt('a b', 'a')).toBe('b a');
  let many: string | undefined;
  for (let i = 0; i < 150; i++) many = withAttempt(many, `${i}`);
  expect(attemptsOf(many)).toHaveLength(100);
});

it('A holder whose ceiling fell does not register again by the higher one of before', async () => {
  const clock = new FakeClock(START);
  const workers = new InMemoryWorkers();
  const store = new InMemoryWorkerStore(workers);
  const one = await new LeaseRig(clock, store, { policy: 'pool', maxWorkerId: 0 }).start();
  clock.step(7_200_000);
  await one.report();
  clock.step(-7_200_000);
  store.line = 'answers are lost';
  await one.report();
  store.line = 'down';
  await clock.advance(3_600_000 + 61_000);
  const two = new LeaseRig(clock, new InMemoryWorkerStore(workers), { policy: 'pool', maxWorkerId: 0 });
  await two.start();
  expect(two.workerId).toBe(0);
  workers.wipe();
  store.line = 'up';
  await one.report();
  expect(one.workerId).toBeUndefined();
  expect(workers.records.size).toBe(0);
  await two.report();
  expect(two.terms).toHaveLength(1);
});
