import type { Instance } from './instance';
import { InMemoryWorkerFile } from '../../../../../test/support/fakes/in-memory-worker-file';
import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';
import {
  FIXED_GRACE_MS,
  givenTwice,
  inTime,
  LeaseRig,
  pass,
  REPORT_MS,
} from '../../../../../test/support/fakes/lease-rig';
import { FakeClock } from '../../clock/fake-clock';
import type { StoredWorker } from './worker-store';

const START = 1_700_000_000_000;

/** A table: a row is the record of an instance only while it has its name. */
class TableStore extends InMemoryWorkerStore {
  override async read(workerId: number, instance?: Instance): Promise<StoredWorker | undefined> {
    const stored = await super.read(workerId);
    return stored?.record.instance.ip === instance?.ip ? stored : undefined;
  }
}

describe('The worker file', () => {
  let clock: FakeClock;
  let workers: InMemoryWorkers;
  let file: InMemoryWorkerFile;

  beforeEach(() => {
    clock = new FakeClock(START);
    workers = new InMemoryWorkers();
    file = new InMemoryWorkerFile();
  });

  it('does not replace the registry after it reports that the number belongs to another address', async () => {
    const store = new TableStore(workers);
    const one = await new LeaseRig(clock, store, { file }).start();
    store.line = 'down';
    workers.wipe();
    const two = new LeaseRig(clock, new TableStore(workers), { instance: { ip: '10.0.0.8' } });
    const acquired = two.lease.acquire();
    for (let left = FIXED_GRACE_MS + 2 * REPORT_MS; left > 0; left -= REPORT_MS) await pass([one], clock, REPORT_MS);
    await acquired;
    expect(one.workerId).toBe(two.workerId);
    store.line = 'up';
    await one.report();
    await pass([one, two], clock, 2 * REPORT_MS);
    expect(one.losses).toStrictEqual([]);
    expect(await givenTwice([one, two], clock, REPORT_MS)).toStrictEqual([]);
    expect(one.workerId).not.toBe(two.workerId);
  });

  it('does not replace the registry after it assigned the number to another server, even if the file cannot be written', async () => {
    const store = new InMemoryWorkerStore(workers);
    const one = await new LeaseRig(clock, store, { file }).start();
    store.line = 'down';
    workers.wipe();
    const two = new LeaseRig(clock, new InMemoryWorkerStore(workers), { instance: { ip: '10.0.0.8' } });
    const acquired = two.lease.acquire();
    for (let left = FIXED_GRACE_MS + 2 * REPORT_MS; left > 0; left -= REPORT_MS) await pass([one], clock, REPORT_MS);
    await acquired;
    store.line = 'up';
    file.failing = 1;
    await one.report();
    expect(one.workerId).toBeUndefined();
    store.line = 'down';
    await pass([one], clock, 2 * REPORT_MS);
    expect(one.workerId).toBeUndefined();
    expect(one.ids.refusal()).toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    store.line = 'up';
    await pass([one], clock, 2 * REPORT_MS);
    expect(one.workerId).toBe(1);
  });

  it('has the ceiling of IDs that the registry does not know, above which the next process starts', async () => {
    const store = new InMemoryWorkerStore(workers);
    const one = await new LeaseRig(clock, store, { file }).start();
    store.line = 'down';
    await pass([one], clock, 2 * REPORT_MS);
    const { ceiling } = one.lease;
    expect(ceiling).toBeGreaterThan(workers.records.get(0)!.record.ceiling);
    const next = await new LeaseRig(clock, new InMemoryWorkerStore(workers), { file }).start();
    expect(next.terms[0]).toMatchObject({ workerId: 0, floor: ceiling });
  });

  it('does not replace the registry for a worker that was lost at the stop', async () => {
    const store = new InMemoryWorkerStore(workers);
    const one = await new LeaseRig(clock, store, { file, remembers: true }).start();
    const stored = workers.records.get(0)!;
    workers.replace(stored, { ...stored.record, leaseId: 'twin' });
    await expect(one.lease.release()).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
    expect(file.record).toMatchObject({ state: 'lost' });
  });

  it('does not replace the registry for a worker that a second server with this address holds, in this start or the next', async () => {
    const store = new InMemoryWorkerStore(workers);
    await new LeaseRig(clock, store, { file, remembers: true }).start();
    const twin = await new LeaseRig(clock, new InMemoryWorkerStore(workers), { remembers: true }).start();
    const again = new LeaseRig(clock, store, { file, remembers: true });
    const refused = expect(again.lease.acquire()).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
    await pass([twin], clock, 2 * REPORT_MS);
    await refused;
    store.line = 'down';
    await pass([again], clock, 5 * REPORT_MS);
    expect(again.workerId).toBeUndefined();
    const next = new LeaseRig(clock, store, { file, remembers: true });
    await expect(next.start()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
  });

  it.each([
    ['it does not exist', undefined],
    ['it belongs to the registry another', { registry: 'another' }],
    ['it has no registry ID, because an earlier version of Leaf wrote it', { registryId: '' }],
    ['it records the layout other', { layout: 'other' }],
    ['this server released the worker ID', { state: 'released' }],
    ['the worker ID may now belong to another server', { state: 'lost' }],
  ] as const)('does not replace the registry if %s', async (problem, change) => {
    const store = new InMemoryWorkerStore(workers);
    await new LeaseRig(clock, store, { file }).start();
    file.record = change && { ...file.record!, ...change };
    const before = file.record;
    store.line = 'down';
    await clock.advance(3_600_000);
    const again = new LeaseRig(clock, store, { file });
    await expect(again.start()).rejects.toMatchObject({
      ...{ code: 'LEAF_REGISTRY_UNREACHABLE', retryAfterMs: 1000 },
      message: expect.stringContaining(problem) as string,
    });
    expect([again.workerId, file.record]).toEqual([undefined, before]);
  });

  it('does not replace the registry on a clock that is further behind than the lease TTL', async () => {
    const store = new InMemoryWorkerStore(workers);
    const { ceiling } = (await new LeaseRig(clock, store, { file, remembers: true }).start()).lease;
    store.line = 'down';
    const start = (): Promise<LeaseRig> => new LeaseRig(clock, store, { file, remembers: true }).start();
    clock.step(-1);
    await expect(start()).rejects.toMatchObject({ code: 'LEAF_CLOCK_BEHIND' });
    clock.step(1);
    // It waits, and issues only above the ceiling.
    const next = await start();
    expect(next.waits).toMatchObject([{ retryAfterMs: 10_001 }]);
    expect(next.terms).toEqual([{ workerId: 0, floor: ceiling }]);
    expect([next.lease.ceiling, file.record?.ceiling]).toEqual([ceiling + 10_001, ceiling + 10_001]);
  });

  it('does not replace the registry after it lost its history', async () => {
    const store = new InMemoryWorkerStore(workers);
    await new LeaseRig(clock, store, { file }).start();
    workers.wipe();
    const other = new LeaseRig(clock, new InMemoryWorkerStore(workers), { instance: { ip: '10.0.0.8' } });
    expect(await other.start()).toMatchObject({ workerId: 0 });
    const again = new LeaseRig(clock, store, { file });
    store.list = () => {
      store.line = 'down';
      return InMemoryWorkerStore.prototype.list.call(store);
    };
    await expect(again.start()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    expect(again.workerId).toBeUndefined();
  });

  describe('with a ceiling that has not passed', () => {
    /** Crashed before its lease TTL had passed. */
    async function crashed(): Promise<InMemoryWorkerStore> {
      await new LeaseRig(clock, new InMemoryWorkerStore(workers), { file, remembers: true }).start();
      const store = new InMemoryWorkerStore(workers);
      store.line = 'down';
      return store;
    }

    it('does not replace a registry that is reachable again after the wait', async () => {
      const store = await crashed();
      const one = new LeaseRig(clock, store, { file, remembers: true });
      const acquired = one.lease.acquire();
      await clock.advance(REPORT_MS);
      store.line = 'up';
      await inTime(clock, acquired);
      expect(one.lease.snapshot().degradedReason).toBeUndefined();
    });

    it('does not issue the IDs of a second server with this address that acquires during the wait', async () => {
      const store = await crashed();
      const one = new LeaseRig(clock, store, { file, remembers: true });
      const twin = new LeaseRig(clock, new InMemoryWorkerStore(workers), { remembers: true });
      const acquired = Promise.allSettled([one.lease.acquire(), twin.lease.acquire()]);
      await clock.advance(REPORT_MS);
      store.line = 'up';
      const outcomes = await inTime(clock, acquired);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect([one.ids.tryNext(), twin.ids.tryNext()].filter((id) => id !== undefined)).toHaveLength(1);
    });

    it('replaces a registry that is unreachable after the wait', async () => {
      const one = new LeaseRig(clock, await crashed(), { file, remembers: true });
      await one.start();
      expect(one.workerId).toBe(0);
      expect(one.lease.snapshot().degradedReason).toContain('The line is down');
    });
  });

  it.each([
    [0, true],
    [1, false],
  ])('replaces an unreachable registry %d ms after the ceiling: %s', async (late, replaces) => {
    const store = new InMemoryWorkerStore(workers);
    const one = await new LeaseRig(clock, store, { file, remembers: true }).start();
    const { ceiling } = one.lease;
    store.line = 'down';
    await clock.advance(ceiling - clock.now() + late);
    await one.report();
    expect(one.lease.ceiling > ceiling).toBe(replaces);
    expect(one.lease.snapshot().degradedReason !== undefined).toBe(replaces);
    expect(one.failures).toHaveLength(replaces ? 0 : 1);
  });

  describe('of a registry that was emptied', () => {
    const other = { instance: { ip: '10.0.0.8' }, layout: 'another layout' };

    it('does not replace it after a start was refused because of another layout', async () => {
      const store = new InMemoryWorkerStore(workers);
      await new LeaseRig(clock, store, { file }).start();
      workers.wipe();
      const two = await new LeaseRig(clock, new InMemoryWorkerStore(workers), other).start();
      expect(two.workerId).toBe(0);
      const refused = new LeaseRig(clock, store, { file });
      await expect(refused.start()).rejects.toMatchObject({ code: 'LEAF_LAYOUT_MISMATCH' });
      store.line = 'down';
      const next = new LeaseRig(clock, store, { file });
      await expect(next.start()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    });

    it('does not replace it, for this process or the next, after a report was refused because of another layout', async () => {
      const store = new InMemoryWorkerStore(workers);
      const one = await new LeaseRig(clock, store, { file }).start();
      workers.wipe();
      const two = new LeaseRig(clock, new InMemoryWorkerStore(workers), other);
      const acquired = two.lease.acquire();
      await pass([one], clock, REPORT_MS);
      expect(one.losses).toMatchObject([{ code: 'LEAF_LAYOUT_MISMATCH' }]);
      store.line = 'down';
      for (let left = FIXED_GRACE_MS; left > 0; left -= REPORT_MS) await pass([one], clock, REPORT_MS);
      await acquired;
      expect(two.workerId).toBe(0);
      expect(await givenTwice([one, two], clock, REPORT_MS)).toStrictEqual([]);
      await one.lease.release();
      const next = new LeaseRig(clock, store, { file });
      await expect(next.start()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    });

    it('does not replace it after an acquisition was refused because of another layout', async () => {
      const store = new InMemoryWorkerStore(workers);
      await new LeaseRig(clock, store, { file }).start();
      store.replace = async (...written) => {
        const stored = await InMemoryWorkerStore.prototype.replace.apply(store, written);
        workers.wipe();
        await new LeaseRig(clock, new InMemoryWorkerStore(workers), other).start();
        return stored;
      };
      await expect(new LeaseRig(clock, store, { file }).start()).rejects.toMatchObject({
        code: 'LEAF_LAYOUT_MISMATCH',
      });
      store.line = 'down';
      const next = new LeaseRig(clock, store, { file });
      await expect(next.start()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    });

    it('does not replace it until the worker ID is registered again', async () => {
      const store = new InMemoryWorkerStore(workers);
      const one = await new LeaseRig(clock, store, { file }).start();
      workers.wipe();
      store.create = (...made) => {
        store.line = 'down';
        return InMemoryWorkerStore.prototype.create.apply(store, made);
      };
      const two = new LeaseRig(clock, new InMemoryWorkerStore(workers), { instance: { ip: '10.0.0.8' } });
      const acquired = two.lease.acquire();
      for (let left = FIXED_GRACE_MS + REPORT_MS; left > 0; left -= REPORT_MS) await pass([one], clock, REPORT_MS);
      await acquired;
      expect(two.workerId).toBe(0);
      expect(await givenTwice([one, two], clock, REPORT_MS)).toStrictEqual([]);
    });

    it('replaces it again after the worker ID is registered again', async () => {
      const store = new InMemoryWorkerStore(workers);
      const one = await new LeaseRig(clock, store, { file }).start();
      workers.wipe();
      await pass([one], clock, REPORT_MS);
      expect(one.registeredAgain).toEqual([0]);
      store.line = 'down';
      await pass([one], clock, 2 * FIXED_GRACE_MS);
      expect(one.ids.tryNext()).toBeDefined();
    });

    it('does not replace a registry that had no document when it was last reached', async () => {
      const store = new InMemoryWorkerStore(workers);
      await new LeaseRig(clock, store, { file }).start();
      workers.wipe();
      store.writeRegistry = (...written) => {
        store.line = 'down';
        return InMemoryWorkerStore.prototype.writeRegistry.apply(store, written);
      };
      const again = new LeaseRig(clock, store, { file });
      await expect(again.start()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    });
  });
});
