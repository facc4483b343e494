import { InMemoryWorkerFile } from '../../../../../test/support/fakes/in-memory-worker-file';
import { LeaseRig, REPORT_MS } from '../../../../../test/support/fakes/lease-rig';
import { FakeClock } from '../../clock/fake-clock';
import { defaultLayout } from '../../snowflake/bit-layout';
import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';

const HOUR = 3_600_000;

describe('The content of a worker file', () => {
  let clock: FakeClock;
  let workers: InMemoryWorkers;
  let store: InMemoryWorkerStore;
  let file: InMemoryWorkerFile;

  beforeEach(() => {
    clock = new FakeClock();
    workers = new InMemoryWorkers();
    store = new InMemoryWorkerStore(workers);
    file = new InMemoryWorkerFile();
  });

  const start = (): Promise<LeaseRig> => new LeaseRig(clock, store, { file }).start();

  it('is the worker ID, its history and the write that the registry has confirmed', async () => {
    const one = await start();
    const { id, generation, origin, began } = workers.document!;
    const { leaseId } = workers.records.get(0)!.record;
    const held = {
      ...{ instance: '10.0.0.7:8080', registry: 'fixed (memory)', layout: defaultLayout().fingerprint, workerId: 0 },
      ...{ registryId: id, generation, origin, began, leaseId, attempt: undefined },
    };
    expect(file.record).toEqual({ ...held, ceiling: one.lease.ceiling, write: 1, attempted: 1, state: 'held' });
    await clock.advance(REPORT_MS);
    await one.report();
    expect(file.record).toEqual({ ...held, ceiling: one.lease.ceiling, write: 2, attempted: 2, state: 'held' });
    await one.lease.release();
    expect(file.record).toMatchObject({ ...held, state: 'released' });
  });

  it('is the lease of the process before, until the registry confirms that of this one', async () => {
    await start();
    const before = file.record!;
    store.line = 'down';
    for (const processes of [1, 2]) {
      await clock.advance(HOUR);
      const next = await start();
      const { attempt, ...record } = file.record!;
      expect(record).toEqual({ ...before, attempt: undefined, ceiling: next.lease.ceiling });
      expect(attempt!.split(' ')).toHaveLength(processes);
      expect(attempt).not.toContain(before.leaseId);
    }
    store.line = 'up';
    const last = await start();
    expect(file.record).toEqual({
      ...{ ...before, leaseId: workers.records.get(0)!.record.leaseId, ceiling: last.lease.ceiling },
      ...{ write: 1, attempted: 1, attempt: undefined },
    });
  });

  it('has a ceiling for which the next process waits, to the millisecond', async () => {
    const { ceiling } = (await start()).lease;
    store.line = 'down';
    await clock.advance(ceiling - clock.now());
    const next = await start();
    expect(next.waits).toMatchObject([{ code: 'LEAF_NOT_READY', retryAfterMs: 1 }]);
    await clock.advance(next.lease.ceiling - clock.now() + 1);
    expect((await start()).waits).toStrictEqual([]);
  });
});
