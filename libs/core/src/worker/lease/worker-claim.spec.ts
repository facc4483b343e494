import { InMemoryWorkerFile } from '../../../../../test/support/fakes/in-memory-worker-file';
import {
  FIXED_GRACE_MS,
  LeaseRig,
  type LeaseRigOptions,
  pass,
  REPORT_MS,
} from '../../../../../test/support/fakes/lease-rig';
import { windowServer } from '../../../../../test/support/fakes/window-server';
import { FakeClock } from '../../clock/fake-clock';
import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';
import type { WorkerRecord } from '../records/worker-store';

const HOUR = 3_600_000;
const LEASE_TTL = 10_000;
const OFFSET = 5000;
const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };

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

const record = (): WorkerRecord => workers.records.get(0)!.record;
const server = (options: LeaseRigOptions = {}): LeaseRig => new LeaseRig(clock, store, { remembers: true, ...options });

/** A second server with this address has written the record. */
function overtake(): void {
  const stored = workers.records.get(0)!;
  workers.replace(stored, { ...stored.record, leaseId: 'twin' });
}

/** A process that started from its file, whose ceiling has passed, while the registry was unreachable. */
async function startedFromFile(): Promise<LeaseRig> {
  store.line = 'down';
  await clock.advance(LEASE_TTL + 1);
  const next = await server({ file }).start();
  store.line = 'up';
  return next;
}

describe('the worker file', () => {
  it('does not replace the registry for the next process after a report has found that the worker ID is lost', async () => {
    const one = await server({ file }).start();
    overtake();
    await one.report();
    expect([one.losses.length, file.record?.state]).toEqual([1, 'lost']);
    await expect(startedFromFile()).rejects.toMatchObject(UNREACHABLE);
  });

  it('does not replace a registry that answers with another fault', async () => {
    const one = await server({ file }).start();
    const { ceiling } = one.lease;
    store.replace = () => Promise.reject(new Error('fault'));
    await clock.advance(REPORT_MS);
    await one.report();
    expect([one.lease.ceiling, one.lease.snapshot().degradedReason]).toEqual([ceiling, undefined]);
    expect(file.record).toMatchObject({ ceiling, state: 'held', attempted: 2 });
  });

  it('replaces the registry for the next process after a release that has failed, above the newest ID', async () => {
    const one = await server({ file }).start();
    one.ids.next();
    store.line = 'down';
    await expect(one.lease.release()).rejects.toMatchObject(UNREACHABLE);
    expect(file.record).toMatchObject({ ceiling: one.ids.lastTimestamp, state: 'held' });
    expect((await startedFromFile()).terms).toEqual([{ workerId: 0, floor: one.ids.lastTimestamp }]);
  });

  it('does not let the next process lower a ceiling that is only in the registry', async () => {
    const one = await server({ file }).start();
    clock.step(HOUR);
    store.line = 'answers are lost';
    file.failing = 1;
    await one.report();
    clock.step(-HOUR);
    const { ceiling } = record();
    expect(ceiling).toBeGreaterThan(file.record!.ceiling + HOUR / 2);
    const next = await startedFromFile();
    for (let n = 0; n < 2; n++) {
      await next.report();
      expect(record().ceiling).toBe(ceiling);
    }
  });

  it('is not released by a process that the registry has never confirmed', async () => {
    await server({ file }).start();
    const before = record();
    const next = await startedFromFile();
    await next.lease.release();
    expect([record(), file.record?.state]).toEqual([before, 'held']);
  });
});

describe('a release', () => {
  it('writes above the record of a report whose answer was lost', async () => {
    const one = await server().start();
    store.line = 'answers are lost';
    await one.report();
    store.line = 'up';
    await one.lease.release();
    expect(record().free).toBe(true);
  });

  it('reads the record again if the last report could not', async () => {
    const one = await server().start();
    store.line = 'answers are lost';
    await one.report();
    store.line = 'up';
    const read = store.read.bind(store);
    store.read = () => Promise.reject(new Error('No answer'));
    await one.report();
    store.read = read;
    expect(one.failures).toHaveLength(2);
    await one.lease.release();
    expect(record().free).toBe(true);
  });

  it('finds that the record was deleted', async () => {
    const one = await server({ file }).start();
    workers.records.clear();
    await expect(one.lease.release()).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
    expect([workers.records.size, file.record?.state]).toEqual([0, 'lost']);
  });

  it('does not free the record of a copy of this process that has sent the same number and ceiling (R13)', async () => {
    const one = await server().start();
    one.ids.next();
    const stored = workers.records.get(0)!;
    workers.replace(stored, { ...stored.record, write: stored.record.write + 1, ceiling: one.ids.lastTimestamp });
    const before = record();
    await expect(one.lease.release()).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
    expect(record()).toEqual(before);
  });

  it('by the previous process, whose answer was lost, leaves the worker ID to the next process', async () => {
    const one = await server({ file }).start();
    store.line = 'answers are lost';
    await expect(one.lease.release()).rejects.toMatchObject(UNREACHABLE);
    expect([record().free, file.record?.state]).toEqual([true, 'held']);
    const next = await startedFromFile();
    await next.report();
    expect([record().free, next.losses, next.historiesLost]).toEqual([false, [], []]);
  });
});

describe('in the grace period of a new generation', () => {
  let one: LeaseRig;
  beforeEach(async () => {
    one = await server({ remembers: false, file }).start();
    workers.wipe();
    await one.report();
    expect([one.registeredAgain, workers.document?.floor]).toEqual([[0], undefined]);
  });

  it.each([
    ['another process has written', { leaseId: 'twin' }],
    ['was reset to an earlier one', { write: 1 }],
  ])('a record that %s ends the lease', async (_, change) => {
    const stored = workers.records.get(0)!;
    workers.replace(stored, { ...stored.record, ...change });
    const before = record();
    await one.report();
    expect(one.losses).toMatchObject([{ code: 'LEAF_LEASE_LOST' }]);
    expect(record()).toEqual(before);
  });

  it('the worker file does not replace a registry that refuses the record, because another address has it', async () => {
    workers.records.clear();
    store.create = () => Promise.resolve(undefined);
    await one.report();
    expect([one.historiesLost, one.ids.tryNext(), file.record?.state]).toEqual([[0], undefined, 'lost']);
  });

  it('a holder whose clock is ahead of the others does not write the floor', async () => {
    store.sources = [{ name: 'peer', ask: () => Promise.resolve(clock.now() - HOUR) }];
    await pass([one], clock, 2 * FIXED_GRACE_MS);
    expect(workers.document?.floor).toBeUndefined();
    store.sources = [];
    await one.report();
    expect(workers.document?.floor).toBeLessThanOrEqual(clock.now());
    expect([one.losses, one.failures]).toEqual([[], []]);
  });
});

it('A server whose ceiling has passed does not write a missing document while others hold worker IDs (R6)', async () => {
  const one = await server({ remembers: false }).start();
  const { record: own } = workers.records.get(0)!;
  await clock.advance(LEASE_TTL + 1);
  workers.records.set(1, {
    ...{ workerId: 1, version: 'other' },
    record: { ...own, instance: { ip: '10.0.0.8', port: 8080 }, leaseId: 'other', ceiling: clock.now() + LEASE_TTL },
  });
  workers.document = undefined;
  await one.report();
  expect(one.failures).toMatchObject([{ code: 'LEAF_NOT_READY' }]);
  expect(workers.document).toBeUndefined();
});

it('A report lowers a ceiling that a report without an answer has recorded by a clock that was ahead (R9)', async () => {
  const one = await server().start();
  clock.step(HOUR);
  store.line = 'answers are lost';
  await one.report();
  store.line = 'up';
  clock.step(-HOUR);
  expect(record().ceiling).toBeGreaterThan(clock.now() + HOUR);
  await one.report();
  expect([record().ceiling, one.lease.ceiling]).toEqual(Array(2).fill(clock.now() + LEASE_TTL));
});

it('A server whose ceiling has passed does not go on in another history, although its record is unchanged', async () => {
  const one = await server({ remembers: false }).start();
  const before = record();
  await clock.advance(one.lease.ceiling - OFFSET + 1 - clock.now());
  // The copy lacks the records of those that have held the worker ID since.
  workers.origin = 'b';
  await one.report();
  expect([one.historiesLost, one.ids.tryNext()]).toEqual([[0], undefined]);
  expect(record()).toEqual(before);
});

it('A report asks the registry for its history once, also after the grace period of another history', async () => {
  const one = await server({ remembers: false }).start();
  const read = jest.spyOn(store, 'readRegistry');
  await pass([one], clock, 2 * REPORT_MS);
  expect(read).toHaveBeenCalledTimes(2);
  workers.wipe();
  await pass([one], clock, FIXED_GRACE_MS + 2 * REPORT_MS);
  expect([one.registeredAgain, workers.document?.floor]).toEqual([[0], expect.any(Number)]);
  read.mockClear();
  await pass([one], clock, 2 * REPORT_MS);
  expect(read).toHaveBeenCalledTimes(2);
});

it('A server is listed as running, and a window is not', async () => {
  const { rig, windows, store: pool } = windowServer(workers, clock, 1);
  const announce = jest.spyOn(pool, 'announce');
  await rig.start();
  await rig.report();
  const lease = '0123456789abcdef0123456789abcdef';
  await windows.issue(lease, 'billing', 60_000);
  await windows.extend(lease, 120_000);
  expect(announce.mock.calls).toEqual(Array(2).fill([{ ip: '10.0.0.7', port: 1 }, rig.workerId]));
});
