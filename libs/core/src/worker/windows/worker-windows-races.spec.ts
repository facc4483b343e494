import { windowServer, type WindowServer } from '../../../../../test/support/fakes/window-server';
import { FakeClock } from '../../clock/fake-clock';
import { InMemoryWorkers } from '../../testing/in-memory-worker-store';
import { leaseText, windowOf } from '../records/window-holder';
import type { StoredWorker, WorkerRecord } from '../records/worker-store';
import { HOLDER_PATTERN, type WorkerWindow } from './worker-windows';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LEASE = '0123456789abcdef0123456789abcdef';
const lease = (number: number): string => number.toString(16).padStart(32, '0');

describe('WorkerWindows beside requests that others make at the same time', () => {
  let clock: FakeClock;
  let workers: InMemoryWorkers;
  let first: WindowServer;

  beforeEach(async () => {
    clock = new FakeClock();
    workers = new InMemoryWorkers();
    first = windowServer(workers, clock, 1);
    await first.rig.start();
    await clock.advance(1000);
  });

  it('tries to release a window five times while others write its record', async () => {
    await first.windows.issue(LEASE, 'billing', MINUTE);
    const replace = jest.spyOn(first.store, 'replace').mockResolvedValue(undefined);
    await expect(first.windows.release(LEASE)).rejects.toMatchObject({ code: 'LEAF_NOT_READY', retryAfterMs: 1000 });
    expect(replace).toHaveBeenCalledTimes(5);
    replace.mockRestore();
    await first.windows.release(LEASE);
    expect(await first.windows.list()).toStrictEqual([]);
  });

  it('tries to acquire a window five times while another server acquires for the same lease', async () => {
    const acquire = jest.spyOn(first.rig.registry, 'acquire');
    const list = first.store.list.bind(first.store);
    first.store.list = async (...given) => {
      const found = await list(...given);
      const own = found.find(({ record }) => record.leaseId?.startsWith(LEASE) && !record.free);
      if (own === undefined) return found;
      // The other server withdraws its own record before the next read.
      const record = { ...own.record, leaseId: leaseText(LEASE, clock.now()) };
      return [...found, { workerId: 900, record, version: 'other' }];
    };
    await expect(first.windows.issue(LEASE, 'billing', MINUTE)).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    expect(acquire).toHaveBeenCalledTimes(5);
    first.store.list = list;
    expect(await first.windows.list()).toStrictEqual([]);
    expect((await first.windows.issue(LEASE, 'billing', MINUTE)).isNew).toBe(true);
  });

  it('does not withdraw a window that another server has extended, because its caller may use it', async () => {
    const second = windowServer(workers, clock, 2);
    const list = first.store.list.bind(first.store);
    let extended: WorkerWindow | undefined;
    first.store.list = async (...given) => {
      const own = windowsOf(workers)[0];
      if (own !== undefined && extended === undefined) {
        extended = await second.windows.issue(LEASE, 'billing', HOUR).then(({ window }) => window);
        addWindow(900, own.record, own.record.ceiling);
      }
      return list(...given);
    };
    const { window, isNew } = await first.windows.issue(LEASE, 'billing', MINUTE);
    expect({ window, isNew }).toEqual({ window: extended, isNew: false });
    expect(windowsOf(workers).map(({ workerId }) => workerId)).toEqual([window.workerId]);
  });

  it.each([-1000, 1000])(
    'answers with the window that ends last, and withdraws one that ends %d ms later',
    async (ms) => {
      const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
      addWindow(900, windowsOf(workers)[0]!.record, window.until + ms);
      await clock.advance(10);
      const again = await windowServer(workers, clock, 2).windows.issue(LEASE, 'billing', 10_000);
      const [kept, withdrawn] = ms > 0 ? [900, window.workerId] : [window.workerId, 900];
      expect(again.window).toEqual({ ...window, workerId: kept, until: Math.max(window.until, window.until + ms) });
      // A caller may use it to its end.
      expect(workers.records.get(withdrawn)!.record).toMatchObject({
        free: true,
        ceiling: Math.min(window.until, window.until + ms),
      });
    },
  );

  it.each([
    ['the ID of this history', 0, true],
    ['no ID of an earlier one', -1, false],
  ])('answers a repeated request with %s', async (_, offset, isSame) => {
    const { floor } = (await first.store.readRegistry()).document!;
    await first.windows.issue(lease(1), 'billing', MINUTE);
    const [{ record }] = windowsOf(workers) as [StoredWorker];
    addWindow(900, { ...record, leaseId: leaseText(LEASE, floor! + 1 + offset) }, record.ceiling);
    const { window, isNew } = await first.windows.issue(LEASE, 'billing', MINUTE);
    expect([window.workerId === 900, isNew]).toEqual([isSame, !isSame]);
    expect(workers.records.get(900)!.record.free).toBe(!isSame);
  });

  it('counts only the windows in its own range of worker IDs', async () => {
    const other = windowServer(workers, clock, 2, { maxWorkerId: 3 });
    await first.windows.issue(lease(1), 'billing', MINUTE);
    const [own] = windowsOf(workers) as [StoredWorker];
    for (let n = 0; n < 3; n++)
      addWindow(900 + n, { ...own.record, leaseId: leaseText(lease(n + 2), 1) }, own.record.ceiling);
    await other.windows.issue(LEASE, 'billing', MINUTE);
    await expect(first.windows.issue(lease(9), 'billing', MINUTE)).rejects.toMatchObject({
      code: 'LEAF_WORKERS_USED_UP',
    });
  });

  it('reads no records for a window that it has written, if the request has its worker ID', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    const list = jest.spyOn(first.store, 'list');
    await first.windows.extend(LEASE, HOUR, window.workerId);
    await first.windows.extend(LEASE, HOUR);
    expect(list).not.toHaveBeenCalled();
  });

  it('keeps the end of a released window when another server tries to extend it', async () => {
    await first.windows.issue(LEASE, 'billing', HOUR);
    const second = windowServer(workers, clock, 2);
    const { workerId } = await second.windows.extend(LEASE, HOUR);
    await first.windows.release(LEASE, clock.now());
    await expect(second.windows.extend(LEASE, HOUR)).rejects.toMatchObject({ code: 'LEAF_LEASE_NOT_FOUND' });
    expect(workers.records.get(workerId)!.record).toMatchObject({ free: true, ceiling: clock.now() });
  });

  function addWindow(workerId: number, record: WorkerRecord, ceiling: number): void {
    workers.records.set(workerId, { workerId, record: { ...record, ceiling }, version: `added-${workerId}` });
  }
});

describe('The name of the holder of a window', () => {
  it.each(['x', 'Zürich [eu]', '漢'.repeat(127), 'x'.repeat(127)])('may be %j', (name) => {
    expect(name).toMatch(HOLDER_PATTERN);
  });

  it.each(['', 'x'.repeat(128), 'a\n', '\u0000a', 'a\u200bb'])('may not be %j', (name) => {
    expect(name).not.toMatch(HOLDER_PATTERN);
  });
});

/** The records of windows that are not released. */
function windowsOf(workers: InMemoryWorkers): StoredWorker[] {
  return [...workers.records.values()].filter(({ record }) => !record.free && windowOf(record) !== undefined);
}
