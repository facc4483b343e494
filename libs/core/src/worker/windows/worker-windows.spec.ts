import { InMemoryWorkers } from '../../testing/in-memory-worker-store';
import { LeaseRig, pass } from '../../../../../test/support/fakes/lease-rig';
import { failNextWrite } from '../../../../../test/support/fakes/lost-answers';
import { type WindowServer, windowServer } from '../../../../../test/support/fakes/window-server';
import { FakeClock } from '../../clock/fake-clock';
import { WorkerWindows } from './worker-windows';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LEASE = '0123456789abcdef0123456789abcdef';
const lease = (number: number): string => number.toString(16).padStart(32, '0');

describe('WorkerWindows', () => {
  let clock: FakeClock;
  let workers: InMemoryWorkers;
  let first: WindowServer;

  const server = (number: number, limits = {}): WindowServer => windowServer(workers, clock, number, limits);

  beforeEach(async () => {
    clock = new FakeClock();
    workers = new InMemoryWorkers();
    first = server(1);
    await first.rig.start();
    await clock.advance(1000);
  });

  const recordOf = (workerId: number) => workers.records.get(workerId)!.record;

  /** An acquisition whose write the registry applies later. */
  async function acquireLate(): Promise<{ apply: () => Promise<unknown>; workerId: number; ceiling: number }> {
    const create = first.store.create.bind(first.store);
    let late: Parameters<typeof create>;
    first.store.create = (...write) => {
      late = write;
      return Promise.reject(new Error('No answer'));
    };
    await expect(first.windows.issue(LEASE, 'billing', MINUTE)).rejects.toThrow('No answer');
    const [, { ceiling }, workerId] = late!;
    return { apply: () => create(...late), workerId: workerId!, ceiling };
  }

  it('reserves a worker ID that no server has, from now until the end of the window', async () => {
    const { window, isNew } = await first.windows.issue(LEASE, 'billing-7d9f', MINUTE);
    expect(isNew).toBe(true);
    expect(window).toMatchObject({ lease: LEASE, holder: 'billing-7d9f', until: clock.now() + MINUTE });
    expect(window.from).toBeLessThanOrEqual(clock.now());
    expect(window.workerId).not.toBe(first.rig.workerId);
    expect(await first.windows.list()).toEqual([expect.objectContaining(window)]);
  });

  it('leaves a quarter of a pool to servers, also where the layout has more worker IDs than a pool', async () => {
    const large = server(2, { maxWorkerId: 4095, most: 1024 });
    const { window } = await large.windows.issue(lease(0), 'billing', MINUTE);
    const stored = workers.records.get(window.workerId)!;
    const unused = Array.from({ length: 1024 }, (_, workerId) => workerId).filter((id) => !workers.records.has(id));
    for (const workerId of unused.slice(0, 766)) workers.records.set(workerId, { ...stored, workerId });
    await large.windows.issue(lease(1), 'billing', MINUTE);
    await expect(large.windows.issue(lease(2), 'billing', MINUTE)).rejects.toThrow('All 768 worker windows are used');
  });

  it('says what to do where the only worker ID is for the server', async () => {
    const small = server(2, { maxWorkerId: 0 });
    await expect(small.windows.issue(LEASE, 'billing', MINUTE)).rejects.toThrow('Give it a larger range of worker IDs');
  });

  it('needs a pool', () => {
    const { registry } = new LeaseRig(clock, first.store, { policy: 'fixed' });
    const fixed = new WorkerWindows(registry, { ip: '10.0.0.7', port: 2 }, clock, 3);
    expect([first.windows.supported, fixed.supported]).toEqual([true, false]);
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

  it('keeps the time of earlier holders reserved when a caller releases it without an ID', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    await clock.advance(5000);
    await first.windows.release(LEASE, clock.now() - 1);
    const next = await first.windows.issue(lease(1), 'other', MINUTE);
    await first.windows.release(lease(1), 0);
    expect(next.window).toMatchObject({ workerId: window.workerId, from: clock.now() });
    expect(recordOf(window.workerId)).toMatchObject({ free: true, ceiling: next.window.from - 1 });
  });

  it('keeps the whole window reserved when it is released without a timestamp', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    await first.windows.release(LEASE);
    expect(recordOf(window.workerId)).toMatchObject({ free: true, ceiling: window.until });
  });

  it('releases both worker IDs of a lease when the write of a lost request came late', async () => {
    const late = await acquireLate();
    const second = server(2, { most: 1000 });
    const { window } = await second.windows.issue(LEASE, 'billing', MINUTE);
    await late.apply();
    const longer = await second.windows.extend(LEASE, HOUR, window.workerId);
    expect((await second.windows.list()).length).toBe(2);
    await second.windows.release(LEASE, longer.until);
    expect(await second.windows.list()).toStrictEqual([]);
    expect(recordOf(window.workerId)).toMatchObject({ ceiling: longer.until, free: true });
  });

  it('answers a repeated request at once when the write of a lost request came late', async () => {
    const late = await acquireLate();
    const second = server(2);
    await clock.advance(1000);
    const { window } = await second.windows.issue(LEASE, 'billing', MINUTE);
    await late.apply();
    const again = await server(3).windows.issue(LEASE, 'billing', HOUR);
    expect(again).toEqual({ window: { ...window, until: clock.now() + HOUR }, isNew: false });
    // A caller may have been told of it.
    expect(recordOf(late.workerId)).toMatchObject({ free: true, ceiling: late.ceiling });
    expect(await first.windows.list()).toHaveLength(1);
  });

  it('extends the window of one of two copies of a process, at whichever server', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    const second = server(2);
    await clock.advance(30_000);
    const original = { known: window.until, mark: 17 };
    const longer = await first.windows.extend(LEASE, MINUTE, undefined, original);
    expect(longer.until % 1000).toBe(17);
    expect(longer.until - clock.now() - MINUTE).toBeLessThan(1000);
    for (const { windows } of [first, second]) {
      const extending = windows.extend(LEASE, HOUR, window.workerId, { known: window.until, mark: 18 });
      await expect(extending).rejects.toMatchObject({
        ...{ code: 'LEAF_LEASE_LOST', status: 409 },
        message: expect.stringContaining('was extended by another process with the same lease'),
      });
    }
    // Without the timestamps that the other one may use.
    const next = { known: longer.until, mark: 3 };
    expect(await second.windows.extend(LEASE, MINUTE, undefined, next)).toMatchObject({ from: window.from });
  });

  it('recognizes an extension whose answer was lost, and extends from the time of the next try', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    const progress = { known: window.until, mark: 999 };
    await first.windows.extend(LEASE, MINUTE, undefined, progress);
    await clock.advance(50_000);
    for (const { windows } of [server(2), first, server(3)]) {
      const { until } = await windows.extend(LEASE, MINUTE, undefined, progress);
      expect(until).toBeGreaterThanOrEqual(clock.now() + MINUTE);
      await clock.advance(2000);
    }
  });

  it('notices a copy that was made during an extension at the next one', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    const both = { known: window.until, mark: 17 };
    const original = await first.windows.extend(LEASE, MINUTE, window.workerId, both);
    await clock.advance(4321);
    const copy = await first.windows.extend(LEASE, MINUTE, window.workerId, both);
    await clock.advance(30_000);
    await first.windows.extend(LEASE, MINUTE, window.workerId, { known: original.until, mark: 18 });
    const next = { known: copy.until, mark: 19 };
    await expect(first.windows.extend(LEASE, MINUTE, window.workerId, next)).rejects.toMatchObject({
      code: 'LEAF_LEASE_LOST',
    });
  });

  it('does not take a try for a copy that is executed after the answer of a later one', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    const second = server(2);
    await clock.advance(30_000);
    const progress = { known: window.until, mark: 17 };
    const { until } = await second.windows.extend(LEASE, MINUTE, window.workerId, progress);
    await clock.advance(4321);
    const late = await first.windows.extend(LEASE, MINUTE, window.workerId, progress);
    expect(late.until).toBeGreaterThan(until);
    await clock.advance(20_000);
    const next = { known: until, mark: 18 };
    expect((await second.windows.extend(LEASE, MINUTE, window.workerId, next)).until % 1000).toBe(18);
    await expect(second.windows.extend(LEASE, MINUTE, window.workerId, progress)).rejects.toMatchObject({
      code: 'LEAF_LEASE_LOST',
    });
  });

  it('does not take a first request for a copy that is executed after the answer of a repeated one', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    await clock.advance(4321);
    expect((await server(2).windows.issue(LEASE, 'billing', MINUTE)).window.until).toBeGreaterThan(window.until);
    await clock.advance(20_000);
    const progress = { known: window.until, mark: (window.until + 1) % 1000 };
    expect(await first.windows.extend(LEASE, MINUTE, window.workerId, progress)).toMatchObject({ from: window.from });
  });

  it('marks an end that it leaves where it is, also if another server has recorded it', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    const { until } = await server(2).windows.extend(LEASE, HOUR, window.workerId, { known: window.until, mark: 17 });
    const progress = { known: until, mark: 18 };
    expect(await first.windows.extend(LEASE, MINUTE, window.workerId, progress)).toMatchObject({ until: until + 1 });
    expect(recordOf(window.workerId).ceiling).toBe(until + 1);
  });

  it('notices a copy of a process whose window lasts longer than the extensions', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', HOUR);
    const original = { known: window.until, mark: (window.until + 1) % 1000 };
    expect((await first.windows.extend(LEASE, MINUTE, undefined, original)).until).toBe(window.until + 1);
    const copy = { known: window.until, mark: (window.until + 2) % 1000 };
    await expect(first.windows.extend(LEASE, MINUTE, undefined, copy)).rejects.toMatchObject({
      code: 'LEAF_LEASE_LOST',
    });
  });

  it('keeps the window reserved when a copy of its holder releases it', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    const { until } = await first.windows.extend(LEASE, HOUR, undefined, { known: window.until, mark: 1 });
    await first.windows.release(LEASE, clock.now(), { known: window.until, mark: 2 });
    expect(recordOf(window.workerId)).toMatchObject({ free: true, ceiling: until });
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
    first = server(1, { maxWorkerId: 1 });
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
    // A minute after their end.
    await clock.advance(2 * MINUTE);
    await expect(first.windows.issue(LEASE, 'billing', MINUTE)).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
    await clock.advance(1);
    await first.windows.issue(LEASE, 'billing', MINUTE);
  });

  it('lists a window up to its last timestamp', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    await clock.advance(window.until - clock.now());
    expect(await first.windows.list()).toHaveLength(1);
    await clock.advance(1);
    expect(await first.windows.list()).toStrictEqual([]);
  });

  it('finds a window by its worker ID alone, where the lease has several', async () => {
    const late = await acquireLate();
    const second = server(2);
    const { window } = await second.windows.issue(LEASE, 'billing', MINUTE);
    await late.apply();
    const third = server(3);
    await expect(third.windows.extend(LEASE, HOUR)).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    await expect(third.windows.extend(LEASE, HOUR, first.rig.workerId)).rejects.toMatchObject({
      code: 'LEAF_LEASE_NOT_FOUND',
    });
    // It holds the other window.
    expect((await second.windows.extend(LEASE, HOUR, late.workerId)).workerId).toBe(late.workerId);
    expect((await third.windows.extend(LEASE, HOUR, window.workerId)).workerId).toBe(window.workerId);
  });

  it('does not say that a window was not found while it may be registered again', async () => {
    workers.wipe();
    const next = server(2);
    await expect(next.windows.extend(LEASE, MINUTE)).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
  });

  it('tells the caller a fault of the registry, and keeps the window', async () => {
    const { window } = await first.windows.issue(LEASE, 'billing', MINUTE);
    failNextWrite(first.store, 'before');
    await expect(first.windows.extend(LEASE, HOUR)).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    expect(await first.windows.extend(LEASE, MINUTE)).toMatchObject({ workerId: window.workerId, from: window.from });
  });

  it('counts windows that are released early, as long as their worker IDs stay reserved', async () => {
    for (let n = 0; n < 3; n++) {
      await first.windows.issue(lease(n), 'billing', 60 * MINUTE);
      await first.windows.release(lease(n));
    }
    await expect(first.windows.issue(LEASE, 'billing', MINUTE)).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
    await clock.advance(60 * MINUTE);
    await expect(first.windows.issue(LEASE, 'billing', MINUTE)).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
    await clock.advance(1);
    await first.windows.issue(LEASE, 'billing', MINUTE);
  });

  it('keeps the limit when many ask at the same time', async () => {
    const asked = Array.from({ length: 12 }, (_, n) => first.windows.issue(lease(n), 'billing', MINUTE));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(3);
    expect((await first.windows.list()).length).toBeLessThanOrEqual(3);
    // Also those that were refused: the other worker IDs are left to servers.
    expect([...workers.records.keys()].filter((workerId) => workerId !== first.rig.workerId).length).toBe(3);
  });

  it('leaves a quarter of the worker IDs to servers', async () => {
    const { windows } = server(2, { maxWorkerId: 3, most: 1000 });
    for (let n = 0; n < 3; n++) await windows.issue(lease(n), 'billing', MINUTE);
    await expect(windows.issue(LEASE, 'billing', MINUTE)).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
  });

  it('does not free a long window that nobody has extended for the lease TTL', async () => {
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
});
