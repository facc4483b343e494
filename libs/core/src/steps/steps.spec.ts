import { FakeClock } from '../clock/fake-clock';
import { LeafError } from '../errors/leaf-error';
import { defaultLayout } from '../snowflake/bit-layout';
import { InMemoryWorkers, InMemoryWorkerStore } from '../testing/in-memory-worker-store';
import type { StoredWorker, WorkerRecord } from '../worker/records/worker-store';
import { LoggedLayout } from './logged-layout';
import { LoggedWorkerStore } from './logged-worker-store';
import { leaseStep, type StepLine, StepLog } from './step-log';

const INSTANCE = { ip: '10.0.0.7', port: 8080 };
const RECORD: WorkerRecord = { instance: INSTANCE, leaseId: 'a', write: 1, ceiling: 5000, free: false };
const STEP = { lease: leaseStep('a'), write: 1, ceiling: 5000, free: false, window: false };

describe('a step log', () => {
  let lines: StepLine[];
  let log: StepLog;
  let workers: InMemoryWorkers;
  let store: LoggedWorkerStore;

  beforeEach(() => {
    lines = [];
    let order = 0;
    log = new StepLog(new FakeClock(1000), {
      order: () => ++order,
      write: (line) => lines.push(JSON.parse(line) as StepLine),
    });
    workers = new InMemoryWorkers();
    store = new LoggedWorkerStore(new InMemoryWorkerStore(workers), log, true);
  });

  const create = async (): Promise<StoredWorker> => {
    const stored = await store.create(await store.readRegistry(), RECORD, 3);
    if (stored === undefined) throw new Error('The record was not created.');
    return stored;
  };

  it('numbers its lines, and records a write before it is sent and after its answer', async () => {
    await create();
    expect(lines).toEqual([
      { n: 1, order: 1, at: 1000, kind: 'send', worker: 3, before: null, after: STEP },
      { n: 2, order: 2, at: 1000, kind: 'done', of: 1, worker: 3, stored: STEP },
    ]);
  });

  it('records a refused write, and one whose outcome is unknown', async () => {
    const stored = await create();
    workers.records.delete(3);
    expect(await store.replace(stored, { ...RECORD, write: 2 })).toBeUndefined();
    expect(lines.at(-1)).toMatchObject({ kind: 'done', of: 3, stored: null });
    const failing = new InMemoryWorkerStore(workers);
    failing.replace = () => Promise.reject(new LeafError('LEAF_REGISTRY_UNREACHABLE', 'gone'));
    await expect(new LoggedWorkerStore(failing, log, true).replace(stored, RECORD)).rejects.toThrow('gone');
    expect(lines.at(-1)).toMatchObject({ kind: 'unknown', of: 5 });
  });

  it('records the content of a record once, until it changes or is gone', async () => {
    const stored = await create();
    await store.list();
    expect(lines).toHaveLength(2);
    workers.replace(stored, { ...RECORD, write: 2 });
    await store.list();
    await store.read(3, INSTANCE);
    expect(lines.slice(2)).toMatchObject([{ kind: 'read', worker: 3, record: { ...STEP, write: 2 } }]);
    workers.records.clear();
    await store.list();
    await store.list();
    expect(lines.slice(3)).toMatchObject([{ kind: 'read', worker: 3, record: null }]);
  });

  it('joins consecutive timestamps of a worker, and writes them before the next step', async () => {
    const layout = new LoggedLayout(defaultLayout(), log);
    const at = Date.parse('2026-01-01T00:00:00Z');
    for (const [workerId, ms] of [
      [1, 0],
      [1, 5],
      [2, 5],
      [2, 7],
    ] as const) {
      layout.compose({ timestamp: at + ms, workerId, sequence: 0 });
    }
    await create();
    expect(lines).toMatchObject([
      { kind: 'issue', worker: 1, from: at, to: at + 5 },
      { kind: 'issue', worker: 2, from: at + 5, to: at + 7 },
      { kind: 'send' },
      { kind: 'done' },
    ]);
  });

  it('contains no lease ID', async () => {
    const lease = '0123456789abcdef0123456789abcdef';
    await store.create(await store.readRegistry(), { ...RECORD, leaseId: `${lease}-17` }, 4);
    expect(JSON.stringify(lines)).not.toContain(lease);
    expect(lines[0]).toMatchObject({ after: { lease: leaseStep(`${lease}-17`), window: true } });
  });
});
