import { InMemoryWorkers, InMemoryWorkerStore } from '../testing/in-memory-worker-store';
import { inTime, LeaseRig, pass, POOL_GRACE_MS } from '../../../../test/support/fakes/lease-rig';
import { failNextWrite } from '../../../../test/support/fakes/lost-answers';
import { FakeClock } from '../clock/fake-clock';
import { WorkerWindows } from './worker-windows';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LEASE = '0123456789abcdef0123456789abcdef';
const lease = (number: number): string => number.toString(16).padStart(32, '0');

describe('WorkerWindows', () => {
  let clock: FakeClock;
  let workers: InMemoryWorkers;
  let first: ReturnType<typeof server>;

  function server(number: number, at = clock, maxWorkerId = 1023, most = 3) {
    const store = new InMemoryWorkerStore(workers);
    const rig = new LeaseRig(at, store, { policy: 'pool', instance: { port: number }, maxWorkerId });
    const windows = new WorkerWindows(rig.registry, { ip: '10.0.0.7', port: number }, at, most);
    return { rig, store, windows };
  }

  beforeEach(async () => {
    clock = new FakeClock();
    workers = new InMemoryWorkers();
    first = server(1);
    await first.rig.start();
    await clock.advance(1000);
  });

  const recordOf = (workerId: number) => workers.records.get(workerId)!.record;

  it('reserves a worker ID that no server has, from now until the end of the window', async () => {
    const { window, isNew } = await first.windows.issue(LEASE, 'billing-7d9f', MINUTE);
    expect(isNew).toBe(true);
    expect(window).toMatchObject({ lease: LEASE, holder: 'billing-7d9f', until: clock.now() + MINUTE });
    expect(window.from).toBeLessThanOrEqual(clock.now());
    expect(window.workerId).not.toBe(first.rig.workerId);
    expect(await first.windows.list()).toEqual([expect.objectContaining(window)]);
  });

  it('answers a repeated request with the same worker, from another server as well', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    await clock.advance(10_000);
    for (const { windows } of [first, server(2)]) {
      const again = await windows.issue(LEASE, 'billing', MINUTE);
      expect(again).toEqual({ window: { ...window, until: clock.now() + MINUTE }, isNew: false });
    }
  });

  it('finds the window again when the answer of the registry was lost', async () => {
    failNextWrite(first.store, 'after');
    await expect(first.windows.issue(LEASE, 'billing', MINUTE)).rejects.toMatchObject({
      code: 'LEAF_REGISTRY_UNREACHABLE',
    });
    const { window, isNew } = await first.windows.issue(LEASE, 'billing', MINUTE);
    expect([isNew, (await first.windows.list()).length]).toEqual([false, 1]);
    expect(recordOf(window.workerId).ceiling).toBe(window.until);
  });

  it('extends a window by any server, and never lowers its end', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', 10 * MINUTE);
    const second = server(2);
    await second.rig.start();
    expect(await second.windows.extend(LEASE, MINUTE)).toEqual(window);
    const longer = await second.windows.extend(LEASE, 20 * MINUTE, window.workerId);
    expect(longer).toEqual({ ...window, until: clock.now() + 20 * MINUTE });
    // The first server has not seen that write.
    expect(await first.windows.extend(LEASE, MINUTE)).toEqual(longer);
  });

  it('gives the next holder only timestamps above those of the one before', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    await clock.advance(5000);
    await first.windows.release(LEASE, clock.now() - 1);
    expect(recordOf(window.workerId)).toMatchObject({ free: true, ceiling: clock.now() - 1 });
    await first.windows.release(LEASE, clock.now() - 1);
    await expect(first.windows.extend(LEASE, MINUTE)).rejects.toMatchObject({ code: 'LEAF_LEASE_NOT_FOUND' });
    // The worker that is longest unused comes first.
    const next = await first.windows.issue(lease(1), 'other', MINUTE);
    expect(next.window).toMatchObject({ workerId: window.workerId, from: clock.now() });
  });

  it('keeps the whole window reserved when it is released without a timestamp', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    await first.windows.release(LEASE);
    expect(recordOf(window.workerId)).toMatchObject({ free: true, ceiling: window.until });
  });

  it('releases both worker IDs of a lease when the write of a lost request came late', async () => {
    const create = first.store.create.bind(first.store);
    let late: Parameters<typeof create> | undefined;
    first.store.create = (...write) => {
      late = write;
      return Promise.reject(new Error('No answer'));
    };
    await expect(first.windows.issue(LEASE, 'billing', MINUTE)).rejects.toThrow('No answer');
    const second = server(2);
    const { window } = await second.windows.issue(LEASE, 'billing', MINUTE);
    await create(...late!);
    const longer = await second.windows.extend(LEASE, HOUR, window.workerId);
    expect((await second.windows.list()).length).toBe(2);
    await second.windows.release(LEASE, longer.until);
    expect(await second.windows.list()).toEqual([]);
    expect(recordOf(window.workerId)).toMatchObject({ ceiling: longer.until, free: true });
  });

  it('refuses a newest timestamp after the end of the window', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    await expect(first.windows.release(LEASE, window.until + 1)).rejects.toMatchObject({ code: 'LEAF_BODY_INVALID' });
    expect(recordOf(window.workerId).free).toBe(false);
  });

  it('another server does not revive a released window', async () => {
    await first.windows.issue(LEASE, 'billing', MINUTE);
    const second = server(2);
    await second.windows.extend(LEASE, MINUTE);
    await first.windows.release(LEASE, clock.now());
    await expect(second.windows.extend(LEASE, MINUTE)).rejects.toMatchObject({ code: 'LEAF_LEASE_NOT_FOUND' });
  });

  it('refuses the holder of a window whose worker ID another holder has acquired', async () => {
    workers = new InMemoryWorkers();
    first = server(1, clock, 1);
    await first.rig.start();
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    await clock.advance(2 * MINUTE + 2000);
    const { window: next } = await first.windows.issue(lease(1), 'other', MINUTE);
    expect(next.workerId).toBe(window.workerId);
    expect(next.from).toBeGreaterThan(window.until);
    await expect(first.windows.extend(LEASE, MINUTE)).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST', status: 409 });
    await expect(server(4).windows.extend(LEASE, MINUTE)).rejects.toMatchObject({ code: 'LEAF_LEASE_NOT_FOUND' });
    // It does not harm the new holder.
    expect(await first.windows.extend(lease(1), MINUTE)).toMatchObject({ from: next.from });
  });

  it('extends a window after its end as long as nobody else has the worker ID', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    await clock.advance(2 * MINUTE);
    const extended = await server(2).windows.extend(LEASE, MINUTE);
    expect(extended).toEqual({ ...window, until: clock.now() + MINUTE });
  });

  it('limits the number of windows, so that servers find a worker ID', async () => {
    for (let n = 0; n < 3; n++) await first.windows.issue(lease(n), 'billing', MINUTE);
    await expect(first.windows.issue(LEASE, 'billing', MINUTE)).rejects.toMatchObject({
      ...{ code: 'LEAF_WORKERS_USED_UP', status: 409 },
      message: expect.stringContaining('All 3 worker windows'),
    });
    await clock.advance(2 * MINUTE + 1);
    await first.windows.issue(LEASE, 'billing', MINUTE);
  });

  it('counts windows that are released early, as long as their worker IDs stay reserved', async () => {
    for (let n = 0; n < 3; n++) {
      await first.windows.issue(lease(n), 'billing', 60 * MINUTE);
      await first.windows.release(lease(n));
    }
    await expect(first.windows.issue(LEASE, 'billing', MINUTE)).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
    await clock.advance(60 * MINUTE + 1);
    await first.windows.issue(LEASE, 'billing', MINUTE);
  });

  it('keeps the limit when many ask at the same time', async () => {
    const asked = Array.from({ length: 12 }, (_, n) => first.windows.issue(lease(n), 'billing', MINUTE));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(3);
    expect((await first.windows.list()).length).toBeLessThanOrEqual(3);
  });

  it('leaves a quarter of the worker IDs to servers', async () => {
    const { windows } = server(2, clock, 3, 1000);
    for (let n = 0; n < 3; n++) await windows.issue(lease(n), 'billing', MINUTE);
    await expect(windows.issue(LEASE, 'billing', MINUTE)).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
  });

  it('does not free a long window that nobody has extended for a horizon', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', 24 * 60 * MINUTE);
    for (let hour = 0; hour < 4; hour++) {
      await first.rig.registry.maintain();
      await pass([first.rig], clock, 60 * MINUTE);
    }
    expect(recordOf(window.workerId).free).toBe(false);
    await clock.advance(24 * 60 * MINUTE);
    for (let look = 0; look < 2; look++) {
      await first.rig.registry.maintain();
      await clock.advance(60 * MINUTE);
    }
    expect(recordOf(window.workerId).free).toBe(true);
  });

  it('two servers that acquire for one lease at the same time answer with one worker', async () => {
    const second = server(2);
    for (let round = 0; round < 50; round++) {
      const both = await Promise.allSettled(
        [first, second].map(({ windows }) => windows.issue(lease(round), 'billing', MINUTE)),
      );
      const answers = both.flatMap((each) => (each.status === 'fulfilled' ? [each.value.window.workerId] : []));
      expect(new Set(answers).size).toBeLessThanOrEqual(1);
      const { window } = await first.windows.issue(lease(round), 'billing', MINUTE);
      for (const workerId of answers) expect(workerId).toBe(window.workerId);
      await first.windows.release(lease(round), clock.now());
      await clock.advance(1);
    }
  });

  it('keeps names of people and hosts readable, and cuts long ones off', async () => {
    const names = ['Zürich [eu]:8080 | 100 %', 'x'.repeat(127), '漢'.repeat(40)];
    for (const [index, name] of names.entries()) await first.windows.issue(lease(index), name, MINUTE);
    const [plain, long, wide] = [...(await first.windows.list())].sort((a, b) => (a.lease < b.lease ? -1 : 1));
    expect(plain!.holder).toBe(names[0]);
    expect(names[1]!.startsWith(long!.holder)).toBe(true);
    expect(names[2]!.startsWith(wide!.holder)).toBe(true);
    for (const { record } of workers.records.values()) expect(record.instance.ip.length).toBeLessThanOrEqual(125);
  });

  describe('after the registry has lost its history', () => {
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

    it.each([1, 2, 3, 4])(
      'goes on with a window that another server has registered, after %i writes',
      async (writes) => {
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
      },
    );

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

    it('forgets the windows that have ended', async () => {
      const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
      await clock.advance(MINUTE + 1);
      workers.wipe();
      await first.windows.keep();
      expect(workers.records.has(window.workerId)).toBe(false);
    });
  });
});
