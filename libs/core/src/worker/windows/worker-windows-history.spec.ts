import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';
import { inTime, LeaseRig, pass, POOL_GRACE_MS } from '../../../../../test/support/fakes/lease-rig';
import { type WindowServer, windowServer } from '../../../../../test/support/fakes/window-server';
import { FakeClock } from '../../clock/fake-clock';
import { WorkerWindows } from './worker-windows';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LEASE = '0123456789abcdef0123456789abcdef';
const lease = (number: number): string => number.toString(16).padStart(32, '0');

describe('WorkerWindows after the registry has lost its history', () => {
  let clock: FakeClock;
  let workers: InMemoryWorkers;
  let first: WindowServer;

  const server = (number: number): WindowServer => windowServer(workers, clock, number);

  beforeEach(async () => {
    clock = new FakeClock();
    workers = new InMemoryWorkers();
    first = server(1);
    await first.rig.start();
    await clock.advance(1000);
  });

  const recordOf = (workerId: number) => workers.records.get(workerId)!.record;

  it('registers its windows again, and newcomers get other worker IDs', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', 60 * MINUTE);
    workers.wipe();
    await first.rig.report();
    await first.windows.keep();
    expect(recordOf(window.workerId)).toMatchObject({ ceiling: window.until, free: false });
    await expect(first.windows.issue(lease(1), 'other', MINUTE)).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    await expect(server(2).windows.extend(lease(2), MINUTE)).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    const second = server(2);
    await inTime(clock, second.rig.lease.acquire());
    expect(second.rig.workerId).not.toBe(window.workerId);
    expect(await second.windows.extend(LEASE, MINUTE)).toMatchObject({
      workerId: window.workerId,
      from: window.from,
    });
  });

  it('holds the grace period open until all windows are registered again', async () => {
    const count = 600;
    const large = new InMemoryWorkers();
    const store = new InMemoryWorkerStore(large);
    const rig = await inTime(clock, new LeaseRig(clock, store, { policy: 'pool' }).start());
    const windows = new WorkerWindows(rig.registry, { ip: '10.0.0.7', port: 8080 }, clock, count);
    for (let n = 0; n < count; n++) await windows.issue(lease(n), 'billing', HOUR);
    large.wipe();
    const newcomer = new LeaseRig(clock, new InMemoryWorkerStore(large), { policy: 'pool' });
    const acquired = newcomer.lease.acquire();
    // A store that takes a seventh of the grace period for each write.
    const create = store.create.bind(store);
    store.create = async (...args) => {
      await clock.sleep(POOL_GRACE_MS / 7);
      return create(...args);
    };
    const began = clock.now();
    await inTime(clock, windows.keep());
    expect(clock.now() - began).toBeGreaterThan(POOL_GRACE_MS);
    expect(large.document?.floor).toBeUndefined();
    expect(large.records.size).toBe(count);
    await inTime(clock, acquired);
    expect(large.records.size).toBe(count + 1);
  });

  it('registers many windows with few requests, and writes none that a promoted replica has', async () => {
    const count = 300;
    const large = new InMemoryWorkers();
    const store = new InMemoryWorkerStore(large);
    const rig = await inTime(clock, new LeaseRig(clock, store, { policy: 'pool' }).start());
    const windows = new WorkerWindows(rig.registry, { ip: '10.0.0.7', port: 8080 }, clock, count);
    for (let n = 0; n < count; n++) await windows.issue(lease(n), 'billing', HOUR);
    const recorded = new Map([...large.records].map(([workerId, { record }]) => [workerId, record.ceiling]));
    const calls = { list: 0, read: 0, create: 0, createAll: 0, replace: 0, readRegistry: 0, writeRegistry: 0 };
    for (const name of Object.keys(calls) as (keyof typeof calls)[]) {
      const method = store[name].bind(store) as (...args: unknown[]) => never;
      store[name] = (...args: unknown[]): never => {
        calls[name]++;
        return method(...args);
      };
    }
    large.wipe();
    await windows.keep();
    expect(new Map([...large.records].map(([workerId, { record }]) => [workerId, record.ceiling]))).toEqual(
      new Map([...recorded].filter(([workerId]) => workerId !== rig.workerId)),
    );
    expect(calls).toMatchObject({ read: 0, replace: 0, create: count, createAll: 2 });
    expect(calls.list + calls.readRegistry + calls.writeRegistry).toBeLessThan(30);
    for (const name of Object.keys(calls) as (keyof typeof calls)[]) calls[name] = 0;
    large.promote(large.copy(), 'replica');
    await windows.keep();
    expect(calls).toMatchObject({ read: 0, replace: 0, create: 0 });
    const extended = await windows.extend(lease(7), 2 * HOUR);
    expect(large.records.get(extended.workerId)?.record.ceiling).toBe(extended.until);
    expect(calls).toMatchObject({ read: 0, replace: 1 });
  });

  it('registers a window again that a promoted replica has in an earlier state', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    const copy = workers.copy();
    const longer = await first.windows.extend(LEASE, 30 * MINUTE);
    workers.promote(copy, 'replica');
    expect(recordOf(window.workerId).ceiling).toBe(window.until);
    await first.windows.keep();
    expect(recordOf(window.workerId).ceiling).toBe(longer.until);
  });

  it('reserves a window to its end even if another holder has registered the worker ID first', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', 60 * MINUTE);
    workers.wipe();
    await first.rig.report();
    const thief = server(9);
    const registry = await thief.store.readRegistry();
    const record = { instance: { ip: '10.0.0.9', port: 9 }, leaseId: 'thief', write: 1, ceiling: 1, free: false };
    await thief.store.create(registry, record, window.workerId);
    await first.windows.keep();
    expect(recordOf(window.workerId)).toMatchObject({ leaseId: 'thief', ceiling: window.until });
    await pass([first.rig], clock, POOL_GRACE_MS + 3000);
    await expect(first.windows.extend(LEASE, MINUTE)).rejects.toMatchObject({ code: 'LEAF_LEASE_NOT_FOUND' });
  });

  it('does not take over the record of another holder that has registered the worker ID for longer', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    workers.wipe();
    await first.rig.report();
    const other = { instance: { ip: '10.0.0.9', port: 9 }, leaseId: 'other', write: 1, free: false };
    const ceiling = window.until + HOUR;
    await first.store.create(await first.store.readRegistry(), { ...other, ceiling }, window.workerId);
    await first.windows.keep();
    await pass([first.rig], clock, POOL_GRACE_MS + 3000);
    await expect(first.windows.extend(LEASE, MINUTE)).rejects.toMatchObject({ code: 'LEAF_LEASE_NOT_FOUND' });
    expect(recordOf(window.workerId)).toEqual({ ...other, ceiling });
  });

  it.each(['after a failover', 'in the same history'])(
    'a server numbers its writes above those of the others, %s, so that they go on with the window',
    async (when) => {
      const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
      const second = server(2);
      for (let write = 1; write < 5; write++) await second.windows.extend(LEASE, HOUR);
      if (when === 'after a failover') {
        workers.promote(workers.copy(), 'replica');
        await first.windows.keep();
        await second.windows.keep();
      }
      const { write } = recordOf(window.workerId);
      await first.windows.extend(LEASE, HOUR);
      expect(recordOf(window.workerId).write).toBeGreaterThan(write);
      await expect(second.windows.extend(LEASE, HOUR)).resolves.toMatchObject({ workerId: window.workerId });
    },
  );

  it('does not extend a window whose worker ID another holder had when the history was lost', async () => {
    const { window: old } = await first.windows.issue(LEASE, 'paused', MINUTE);
    const copy = workers.copy();
    await clock.advance(3 * MINUTE);
    workers.records.set(old.workerId, { ...workers.records.get(old.workerId)!, version: 'taken' });
    const taken = { ...recordOf(old.workerId), leaseId: `${lease(1)}-${clock.now()}`, ceiling: clock.now() + HOUR };
    workers.records.set(old.workerId, { workerId: old.workerId, record: taken, version: 'taken' });
    const second = server(2);
    const newer = await second.windows.extend(lease(1), HOUR + MINUTE);
    workers.promote(copy, 'replica');
    const paused = server(3);
    await expect(paused.windows.extend(LEASE, MINUTE)).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
    await second.windows.keep();
    expect(recordOf(old.workerId)).toMatchObject({ ceiling: newer.until, free: true });
    await pass([first.rig, second.rig], clock, POOL_GRACE_MS + 3000);
    await expect(paused.windows.extend(LEASE, MINUTE)).rejects.toMatchObject({ code: 'LEAF_LEASE_NOT_FOUND' });
  });

  it('a server that knows an earlier end does not lower a later one', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    const second = server(2);
    const longer = await second.windows.extend(LEASE, HOUR);
    workers.promote(workers.copy(), 'replica');
    await second.windows.keep();
    await first.windows.keep();
    expect(recordOf(window.workerId).ceiling).toBe(longer.until);
  });

  it('registers the end that it has answered, even if another server had recorded it', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    const longer = await server(2).windows.extend(LEASE, HOUR);
    expect(await first.windows.extend(LEASE, MINUTE)).toEqual(longer);
    await clock.advance(2 * MINUTE);
    workers.wipe();
    await first.windows.keep();
    expect(recordOf(window.workerId).ceiling).toBe(longer.until);
  });

  it.each([1, 2, 3, 4])('goes on with a window that another server has registered, after %i writes', async (writes) => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    const second = server(2);
    for (let write = 1; write < writes; write++) await second.windows.extend(LEASE, HOUR);
    const longer = await second.windows.extend(LEASE, HOUR);
    workers.wipe();
    await first.windows.keep();
    expect(recordOf(window.workerId).ceiling).toBe(window.until);
    await second.windows.keep();
    expect(recordOf(window.workerId)).toMatchObject({ ceiling: longer.until, free: false });
    expect(await second.windows.extend(LEASE, MINUTE)).toEqual(longer);
  });

  it('reserves a window that is about to end, although nobody may extend it', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    await clock.advance(MINUTE - 1000);
    workers.wipe();
    await first.windows.keep();
    expect(recordOf(window.workerId)).toMatchObject({ ceiling: window.until, free: true });
  });

  it('reserves a window to its end when its extension finds another holder', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', HOUR);
    workers.wipe();
    await first.rig.report();
    await first.store.create(
      await first.store.readRegistry(),
      { instance: { ip: '10.0.0.9', port: 9 }, leaseId: 'other', write: 1, ceiling: 1, free: false },
      window.workerId,
    );
    await expect(first.windows.extend(LEASE, MINUTE)).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
    expect(recordOf(window.workerId)).toMatchObject({ ceiling: window.until, free: true });
  });

  it('releases a window that the registry has forgotten', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', HOUR);
    workers.wipe();
    await first.windows.release(LEASE, window.until - 1);
    expect(recordOf(window.workerId)).toMatchObject({ ceiling: window.until - 1, free: true });
  });

  it('does not answer a repeated request with a worker ID from before, which another caller may have', async () => {
    await first.windows.issue(lease(8), 'billing', MINUTE);
    await first.windows.release(lease(8), clock.now());
    await clock.advance(1);
    const copy = workers.copy();
    const { window } = await first.windows.issue(lease(9), 'holder', 60 * MINUTE);
    // It reads the document of the old primary, and the records of the new one.
    const second = server(2);
    const list = second.store.list.bind(second.store);
    let reads = 0;
    second.store.list = (...given) => {
      if (++reads === 3) workers.promote(copy, 'replica');
      return list(...given);
    };
    await expect(second.windows.issue(LEASE, 'straddles', 60 * MINUTE)).rejects.toMatchObject({
      code: 'LEAF_NOT_READY',
    });
    expect(workers.origin).toBe('replica');
    expect(recordOf(window.workerId).leaseId).toContain(LEASE);
    await expect(second.windows.issue(LEASE, 'straddles', MINUTE)).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    await first.windows.keep();
    await inTime(clock, second.rig.lease.acquire());
    const again = await second.windows.issue(LEASE, 'straddles', MINUTE);
    expect(again.window.workerId).not.toBe(window.workerId);
    expect(recordOf(window.workerId).ceiling).toBeGreaterThanOrEqual(window.until);
  });

  it('does not try for ever to reserve a worker ID whose record cannot be read', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', 60 * MINUTE);
    workers.wipe();
    await first.rig.report();
    first.store.create = () => Promise.resolve(undefined);
    await expect(first.windows.keep()).rejects.toMatchObject({
      ...{ code: 'LEAF_REGISTRY_UNREACHABLE' },
      message: expect.stringMatching(`worker ${window.workerId} .* could not be reserved`),
    });
  });

  it('registers a window again whose record is deleted in the grace period', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', HOUR);
    workers.wipe();
    for (let deletion = 0; deletion < 2; deletion++) {
      await first.windows.keep();
      expect(recordOf(window.workerId)).toMatchObject({ ceiling: window.until, free: false });
      workers.records.clear();
    }
    await clock.advance(HOUR - 1000);
    await first.windows.keep();
    expect(recordOf(window.workerId)).toMatchObject({ ceiling: window.until, free: true });
  });

  it('reserves a window to its end that is released while its record is deleted in the grace period', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', HOUR);
    workers.wipe();
    await first.windows.keep();
    workers.records.clear();
    await first.windows.release(LEASE);
    expect(recordOf(window.workerId)).toMatchObject({ ceiling: window.until, free: true });
  });

  it('forgets the windows that have ended', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    await clock.advance(MINUTE + 1);
    workers.wipe();
    await first.windows.keep();
    expect(workers.records.has(window.workerId)).toBe(false);
  });

  it('registers a window to its last timestamp', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    await clock.advance(MINUTE);
    workers.wipe();
    await first.windows.keep();
    expect(recordOf(window.workerId)).toMatchObject({ ceiling: window.until, free: true });
  });

  it('makes one request while the registry keeps its history, and none without a window', async () => {
    const calls = ['readRegistry', 'writeRegistry', 'list', 'read', 'create', 'replace', 'createAll'] as const;
    const spies = calls.map((name) => jest.spyOn(first.store, name));
    const made = (): string[] => calls.filter((_, index) => spies[index]!.mock.calls.length > 0);
    await first.windows.keep();
    expect(made()).toStrictEqual([]);
    await first.windows.issue(LEASE, 'billing', MINUTE);
    for (const spy of spies) spy.mockClear();
    await first.windows.keep();
    expect([made(), spies[0]!.mock.calls.length]).toEqual([['readRegistry'], 1]);
  });

  it('holds the grace period open once for windows that it registers together', async () => {
    const hold = jest.spyOn(first.rig.registry, 'holdGraceOpen');
    await first.windows.issue(LEASE, 'billing', HOUR);
    workers.wipe();
    await first.windows.keep();
    expect(hold).toHaveBeenCalledTimes(1);
  });

  it('registers those that last longest first', async () => {
    const ids: number[] = [];
    for (const [index, minutes] of [10, 30, 20].entries()) {
      ids.push((await first.windows.issue(lease(index), 'billing', minutes * MINUTE)).window.workerId);
    }
    workers.wipe();
    const create = jest.spyOn(first.store, 'create');
    await first.windows.keep();
    expect(create.mock.calls.map(([, , workerId]) => workerId)).toEqual([ids[1], ids[2], ids[0]]);
  });

  it('writes each window once that a promoted replica has in an earlier state', async () => {
    const writes: number[] = [];
    for (const count of [1, 20]) {
      const all = new InMemoryWorkers();
      const { rig, store, windows } = windowServer(all, clock, 5, { most: 20 });
      await rig.start();
      for (let n = 0; n < count; n++) await windows.issue(lease(n), 'billing', MINUTE);
      const copy = all.copy();
      for (let n = 0; n < count; n++) await windows.extend(lease(n), HOUR);
      all.promote(copy, 'replica');
      const replace = jest.spyOn(store, 'replace');
      await windows.keep();
      writes.push(replace.mock.calls.length);
    }
    expect(writes[1]).toBe(20 * writes[0]!);
  });

  it('does not register a window that is released meanwhile', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    const copy = workers.copy();
    await first.windows.extend(LEASE, 30 * MINUTE);
    workers.promote(copy, 'replica');
    const last = clock.now();
    await Promise.all([first.windows.keep(), first.windows.release(LEASE, last)]);
    expect(recordOf(window.workerId)).toMatchObject({ free: true, ceiling: last });
  });

  it('releases a window to the end that another server has answered before a failover', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', 30 * MINUTE);
    const longer = await server(2).windows.extend(LEASE, HOUR);
    workers.promote(workers.copy(), 'replica');
    await first.windows.release(LEASE);
    expect(recordOf(window.workerId)).toMatchObject({ free: true, ceiling: longer.until });
  });
});
