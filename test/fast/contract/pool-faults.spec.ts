import { type Instance, LeafError, type StoredRegistry, type StoredWorker, type WorkerRecord } from '@leaf-ids/core';
import { FakeClock, InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { LeaseRig, REPORT_MS } from '../../support/fakes/lease-rig';

const START = 1_700_000_000_000;
const TTL = 3_600_000;

/** Counts calls, and can lose the results of creations. */
class CountingStore extends InMemoryWorkerStore {
  reads = 0;
  writes = 0;
  losing = 0;

  override list(instance?: Instance): Promise<StoredWorker[]> {
    this.reads += this.server.records.size;
    return super.list(instance);
  }

  override replace(read: StoredWorker, record: WorkerRecord): Promise<StoredWorker | undefined> {
    this.writes++;
    return super.replace(read, record);
  }

  override async create(
    ...call: [StoredRegistry, WorkerRecord, number | undefined]
  ): Promise<StoredWorker | undefined> {
    const made = await super.create(...call);
    if (this.losing-- <= 0) return made;
    throw new LeafError('LEAF_REGISTRY_UNREACHABLE', 'The answer was losses.');
  }
}

describe('a pool', () => {
  let server: InMemoryWorkers;
  let clock: FakeClock;

  beforeEach(() => {
    [server, clock] = [new InMemoryWorkers(), new FakeClock(START)];
  });

  function make(n: number, by = clock): [LeaseRig, CountingStore] {
    const store = new CountingStore(server);
    const instance = { ip: `10.0.${n >> 8}.${n & 255}`, port: 8080 };
    return [new LeaseRig(by, store, { policy: 'pool', instance, leaseTtlMs: TTL }), store];
  }

  it('keeps the worker IDs of all servers when the clock of one is hours ahead', async () => {
    const wrong = new FakeClock(START);
    const right = Array.from({ length: 4 }, (_, n) => make(n)[0]);
    for (const rig of right) await rig.start();
    const [ahead] = make(99, wrong);
    await ahead.start();
    const before = right.map(({ workerId }) => workerId);
    for (let n = 0; n < 10; n++) {
      clock.pause(REPORT_MS);
      wrong.pause(REPORT_MS);
      for (const rig of [...right, ahead]) await rig.report();
    }
    wrong.step(2 * TTL);
    for (let n = 0; n < 3; n++) {
      await ahead.registry.maintain();
      await ahead.report();
      wrong.pause(TTL / 4);
      clock.pause(REPORT_MS);
      for (const rig of right) await rig.report();
    }
    // A newcomer with that clock as well.
    await make(100, wrong)[0].start();
    for (const rig of right) await rig.report();
    expect(right.map(({ workerId }) => workerId)).toEqual(before);
    expect(right.flatMap(({ losses }) => losses)).toStrictEqual([]);
  });

  it('frees a record that is unchanged for the TTL by the monotonic clock of the server that frees it', async () => {
    const [dead] = make(1);
    await dead.start();
    const [job] = make(2);
    for (let n = 0; n < 6; n++) {
      await job.registry.maintain();
      expect(server.records.get(dead.workerId!)?.record.free).toBe(n >= 4);
      clock.pause(TTL / 4);
    }
  });

  it('loses one worker ID at most to a start whose answers are lost', async () => {
    const [rig, store] = make(1);
    store.losing = 13;
    for (let n = 0; n < 13 && rig.workerId === undefined; n++) await rig.start().catch(() => undefined);
    expect(rig.workerId).toBeDefined();
    expect(server.records.size).toBe(1);
  });

  it('is accessed once per report of an idle server, and read in full a few times in the TTL', async () => {
    for (let n = 0; n < 300; n++) await make(n)[0].start();
    const [rig, store] = make(400);
    await rig.start();
    [store.reads, store.writes] = [0, 0];
    for (let ms = 0; ms < 120_000; ms += REPORT_MS) {
      clock.pause(REPORT_MS);
      await rig.report();
      await rig.registry.maintain();
    }
    expect(store.writes).toBe(40);
    expect(store.reads).toBe(301);
  });
});
