import { InMemoryWorkerFile } from '../../../../test/support/fakes/in-memory-worker-file';
import { InMemoryWorkers, InMemoryWorkerStore } from '../testing/in-memory-worker-store';
import { givenTwice, LeaseRig, pass, REPORT_MS } from '../../../../test/support/fakes/lease-rig';
import { FakeClock } from '../clock/fake-clock';
import { defaultLayout } from '../snowflake/bit-layout';
import { type ImportedWorker, ImportFile } from './import-file';
import type { WorkerRecord } from './worker-store';

const START = 1_700_000_000_000;
const WORKER_ID = 7;
const ADDRESS = { ip: '10.0.0.7', port: 8080 };
/** The allowed clock offset, which the start waits. */
const WAIT_MS = 5000;
const HORIZON_MS = 10_000;

class JavaFile extends ImportFile {
  readonly path = 'java';
  layout = defaultLayout().fingerprint;
  found: ImportedWorker | string = { workerId: WORKER_ID, newest: START - 60_000 };
  reads = 0;

  read(): Promise<ImportedWorker | string> {
    this.reads++;
    return Promise.resolve(this.found);
  }
}

describe('The import of a worker ID', () => {
  let clock: FakeClock;
  let workers: InMemoryWorkers;
  let store: InMemoryWorkerStore;
  let file: InMemoryWorkerFile;
  let importFile: JavaFile;

  beforeEach(() => {
    clock = new FakeClock(START);
    workers = new InMemoryWorkers();
    store = new InMemoryWorkerStore(workers);
    store.line = 'down';
    file = new InMemoryWorkerFile();
    importFile = new JavaFile();
  });

  const rig = (): LeaseRig => new LeaseRig(clock, store, { file, importFile });

  /** What the Java service writes: only the time. */
  const javaRecord = (more: Partial<WorkerRecord> = {}): WorkerRecord => ({
    ...{ instance: ADDRESS, leaseId: undefined, write: 0, ceiling: START - 3000, free: false },
    ...more,
  });
  function write(record: WorkerRecord, workerId = WORKER_ID): void {
    workers.create(workers.registry(), record, workerId);
  }

  it('issues above the clock of any server within the allowed offset, after that has passed', async () => {
    const server = await rig().start();
    expect(server.tenures).toEqual([{ workerId: WORKER_ID, floor: START + WAIT_MS }]);
    expect(clock.now()).toBeGreaterThan(START + WAIT_MS);
    expect(server.ids.tryNext()).toBeDefined();
    expect(server.ids.lastTimestamp).toBeGreaterThan(START + WAIT_MS);
    expect(server.lease.snapshot().degradedReason).toContain('The line is down.');
    expect(file.record).toMatchObject({ workerId: WORKER_ID, registryId: '', state: 'held' });
  });

  it('waits for the times in the file as well, and refuses a clock that is far behind them', async () => {
    importFile.found = { workerId: WORKER_ID, newest: START + 2000 };
    expect((await rig().start()).tenures).toEqual([{ workerId: WORKER_ID, floor: START + 2000 + WAIT_MS }]);
    importFile.found = { workerId: WORKER_ID, newest: clock.now() + HORIZON_MS + 1 };
    file.record = undefined;
    await expect(rig().start()).rejects.toMatchObject({ code: 'LEAF_CLOCK_BEHIND' });
  });

  it('issues up to its first ceiling, and nothing above it while the registry is away', async () => {
    const server = await rig().start();
    const { ceiling } = server.lease.snapshot();
    expect(ceiling).toBeLessThanOrEqual(clock.now() + HORIZON_MS);
    await pass([server], clock, ceiling - clock.now());
    expect(server.ids.tryNext()).toBeDefined();
    await pass([server], clock, 2 * REPORT_MS);
    expect(server.ids.tryNext()).toBeUndefined();
    expect(server.ids.lastTimestamp).toBeLessThanOrEqual(ceiling);
  });

  it('registers by compare-and-set when the registry is back, and continues without a pause', async () => {
    write(javaRecord());
    const server = await rig().start();
    await pass([server], clock, 2 * REPORT_MS);
    store.line = 'up';
    await pass([server], clock, REPORT_MS);
    expect(server.tenures).toHaveLength(1);
    expect([server.registeredAgain, server.historiesLost, server.losses]).toEqual([[], [], []]);
    expect(workers.records.get(WORKER_ID)?.record).toMatchObject({
      leaseId: expect.stringContaining('lease') as string,
    });
    expect(file.record).toMatchObject({ registryId: workers.document?.id, state: 'held' });
    await pass([server], clock, 2 * HORIZON_MS);
    expect(server.ids.tryNext()).toBeDefined();
    store.line = 'down';
    await pass([server], clock, 2 * HORIZON_MS);
    expect(server.ids.tryNext()).toBeDefined();
  });

  it('registers once if the reply is lost', async () => {
    write(javaRecord());
    const server = await rig().start();
    store.line = 'up';
    store.replace = (...written) => {
      store.line = 'answers are lost';
      store.replace = InMemoryWorkerStore.prototype.replace.bind(store);
      return store.replace(...written);
    };
    await pass([server], clock, REPORT_MS);
    expect(workers.records.get(WORKER_ID)?.record.write).toBe(1);
    store.line = 'up';
    await pass([server], clock, REPORT_MS);
    expect([server.tenures.length, server.losses]).toEqual([1, []]);
    expect(file.record).toMatchObject({ registryId: workers.document?.id, state: 'held' });
  });

  it.each<[string, WorkerRecord | undefined]>([
    ['belongs to another address', javaRecord({ instance: { ip: '10.0.0.8', port: 8080 } })],
    ['has another lease', javaRecord({ leaseId: 'other', write: 3 })],
    ['has a later time than the import', javaRecord({ ceiling: START + WAIT_MS + 1 })],
    ['is gone', undefined],
  ])('gives the worker ID up when its record %s', async (_, record) => {
    if (record !== undefined) write(record);
    const server = await rig().start();
    store.line = 'up';
    await pass([server], clock, REPORT_MS);
    expect(server.historiesLost).toEqual([WORKER_ID]);
    expect(server.ids.tryNext()).toBeUndefined();
    expect(workers.records.get(WORKER_ID)?.record).toEqual(record);
    expect(file.record).toMatchObject({ state: 'lost' });
  });

  it('acquires another worker ID above everything it has issued, if another address holds the imported one', async () => {
    write(javaRecord({ instance: { ip: '10.0.0.8', port: 8080 } }));
    const server = await rig().start();
    server.ids.tryNext();
    const newest = server.ids.lastTimestamp;
    store.line = 'up';
    await pass([server], clock, 10 * REPORT_MS);
    expect(server.workerId).not.toBe(WORKER_ID);
    expect(server.tenures.at(-1)!.floor).toBeGreaterThanOrEqual(newest);
    expect(server.ids.tryNext()).toBeDefined();
  });

  it('takes the usual way when the registry is back after the ceiling', async () => {
    write(javaRecord());
    const server = await rig().start();
    await pass([server], clock, 2 * HORIZON_MS);
    store.line = 'up';
    await pass([server], clock, REPORT_MS);
    expect(server.ids.tryNext()).toBeUndefined();
    await pass([server], clock, 10 * REPORT_MS);
    expect(server.workerId).toBe(WORKER_ID);
    expect(server.tenures).toHaveLength(2);
    expect(server.ids.tryNext()).toBeDefined();
  });

  it('loses the worker ID when the Java service writes its time again', async () => {
    write(javaRecord());
    const server = await rig().start();
    store.line = 'up';
    await pass([server], clock, REPORT_MS);
    const registered = workers.records.get(WORKER_ID)!;
    workers.replace(registered, javaRecord({ ceiling: clock.now() }));
    await pass([server], clock, REPORT_MS);
    expect(server.losses).toMatchObject([{ code: 'LEAF_LEASE_LOST' }]);
    expect(file.record).toMatchObject({ state: 'lost' });
  });

  it('shares no ID with the successor that takes the worker ID in the registry', async () => {
    write(javaRecord());
    const server = await rig().start();
    const successor = new LeaseRig(clock, new InMemoryWorkerStore(workers), { file: new InMemoryWorkerFile() });
    const acquired = successor.lease.acquire();
    for (let left = 30_000; left > 0; left -= 1000) await pass([server], clock, 1000);
    await acquired;
    expect(successor.workerId).toBe(WORKER_ID);
    expect(await givenTwice([server, successor], clock, REPORT_MS)).toEqual([]);
    store.line = 'up';
    await pass([server, successor], clock, REPORT_MS);
    expect(successor.losses).toEqual([]);
    expect(server.historiesLost).toEqual([WORKER_ID]);
  });

  it('happens once: a restart before the registry has confirmed it needs the registry', async () => {
    await rig().start();
    const { reads } = importFile;
    await expect(rig().start()).rejects.toMatchObject({
      code: 'LEAF_REGISTRY_UNREACHABLE',
      message: expect.stringContaining('the registry has not confirmed its worker ID') as string,
    });
    expect(importFile.reads).toBe(reads);
  });

  it.each<[string, ImportedWorker | string, string]>([
    ['a file with a fault', 'it does not exist', 'it does not exist'],
    ['a worker ID above the layout', { workerId: 1024, newest: 0 }, 'its worker ID 1024 exceeds 1023'],
  ])('refuses %s', async (_, found, problem) => {
    importFile.found = found;
    await expect(rig().start()).rejects.toMatchObject({
      code: 'LEAF_REGISTRY_UNREACHABLE',
      message: expect.stringContaining(`cannot start from the worker file java instead: ${problem}`) as string,
    });
    expect(file.record).toBeUndefined();
  });

  it('refuses the file of a server with another layout', async () => {
    importFile.layout = 'another layout';
    await expect(rig().start()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
  });

  it('refuses a file that changes while it waits', async () => {
    const server = rig();
    const refused = expect(server.start()).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
    await clock.advance(1000);
    importFile.found = { workerId: WORKER_ID, newest: clock.now() };
    await refused;
    expect(server.workerId).toBeUndefined();
  });

  it('does not happen once the registry has answered, even with a refusal', async () => {
    store.line = 'up';
    await new LeaseRig(clock, new InMemoryWorkerStore(workers), { layout: 'another layout' }).start();
    const server = rig();
    await expect(server.start()).rejects.toMatchObject({ code: 'LEAF_LAYOUT_MISMATCH' });
    store.line = 'down';
    await expect(server.start()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    expect(importFile.reads).toBe(0);
  });

  it('does not happen while the registry is up', async () => {
    store.line = 'up';
    expect((await rig().start()).workerId).toBe(0);
    expect(importFile.reads).toBe(0);
  });
});
