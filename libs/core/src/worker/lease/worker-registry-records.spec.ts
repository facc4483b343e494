import { InMemoryWorkerFile } from '../../../../../test/support/fakes/in-memory-worker-file';
import { inTime, LeaseRig, type LeaseRigOptions } from '../../../../../test/support/fakes/lease-rig';
import { type WindowServer, windowServer } from '../../../../../test/support/fakes/window-server';
import { FakeClock } from '../../clock/fake-clock';
import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';
import { LeaseHolder } from '../records/lease-holder';
import type { WorkerRegistry } from './worker-registry';
import type { StoredWorker } from '../records/worker-store';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const OFFSET = 5000;
const lease = (number: number): string => number.toString(16).padStart(32, '0');

let clock: FakeClock;
let workers: InMemoryWorkers;
let store: InMemoryWorkerStore;
let rig: LeaseRig;
let registry: WorkerRegistry;

beforeEach(async () => {
  clock = new FakeClock();
  workers = new InMemoryWorkers();
  await start({});
});

async function start(options: LeaseRigOptions): Promise<void> {
  store = new InMemoryWorkerStore(workers);
  rig = await new LeaseRig(clock, store, { policy: 'pool', maxWorkerId: 9, ...options }).start();
  ({ registry } = rig);
}

const stored = (workerId: number): StoredWorker => workers.records.get(workerId)!;
const held = (): StoredWorker => stored(rig.workerId!);
const holder = (): LeaseHolder => new LeaseHolder({ ip: '10.0.0.9', port: 80 }, 'a lease', () => -1);

describe('A worker ID that is reserved', () => {
  const free = (): number => [0, 1].find((workerId) => workerId !== rig.workerId)!;

  it('has a free record with the ceiling', async () => {
    const ceiling = clock.now() + HOUR;
    await registry.reserve(free(), ceiling, holder());
    expect(stored(free()).record).toEqual({
      ...{ instance: { ip: '10.0.0.9', port: 80 }, leaseId: 'a lease', write: 1, ceiling, free: true },
    });
    expect(workers.records.size).toBe(2);
  });

  it.each([
    [OFFSET, false],
    [OFFSET - 1, true],
  ])('whose ceiling was %d ms ahead is free: %s', async (ms, isFree) => {
    const { record } = workers.replace(held(), { ...held().record, ceiling: clock.now() + ms })!;
    const ceiling = clock.now() + HOUR;
    await registry.reserve(rig.workerId!, ceiling, holder());
    expect(held().record).toEqual({ ...record, write: record.write + 1, ceiling, free: isFree });
  });

  it('stays free', async () => {
    const { record } = workers.replace(held(), { ...held().record, free: true })!;
    await registry.reserve(rig.workerId!, record.ceiling + 1, holder());
    expect(held().record).toEqual({ ...record, write: record.write + 1, ceiling: record.ceiling + 1 });
  });

  it.each([0, 1])('keeps a record with a ceiling that is %d ms later', async (ms) => {
    const before = held();
    await registry.reserve(rig.workerId!, before.record.ceiling - ms, holder());
    expect(held()).toBe(before);
  });

  it.each(['create', 'replace'] as const)('is tried ten times while others write it: %s', async (write) => {
    const refused = jest.spyOn(store, write).mockResolvedValue(undefined);
    const workerId = write === 'create' ? free() : rig.workerId!;
    const reserve = (): Promise<void> => registry.reserve(workerId, clock.now() + 2 * HOUR, holder());
    await expect(reserve()).rejects.toMatchObject({
      code: 'LEAF_REGISTRY_UNREACHABLE',
      message: expect.stringContaining(
        `The record of worker ${workerId} in ${registry.description} could not`,
      ) as string,
    });
    expect(refused).toHaveBeenCalledTimes(10);
    refused.mockRestore();
    const first = jest.spyOn(store, write).mockResolvedValueOnce(undefined);
    await reserve();
    expect(first).toHaveBeenCalledTimes(2);
    expect(stored(workerId).record.ceiling).toBe(clock.now() + 2 * HOUR);
  });
});

describe('A record that is withdrawn', () => {
  it('is free, above what its holder has used', async () => {
    const { record } = held();
    await registry.withdraw(held(), 7);
    expect(held().record).toEqual({ ...record, write: record.write + 1, ceiling: 7, free: true });
  });

  it('stays as it is when it has changed', async () => {
    const before = held();
    const changed = workers.replace(before, { ...before.record, leaseId: 'another' });
    await registry.withdraw(before, 7);
    expect(held()).toBe(changed);
  });
});

describe('After a loss of history', () => {
  const { floor } = { floor: (): number => workers.document!.floor! };

  it('a worker ID of before is not of the current history', async () => {
    expect(await registry.isOfThisHistory(floor())).toBe(true);
    expect(await registry.isOfThisHistory(floor() - 1)).toBe(false);
    await expect(registry.assertSettled()).resolves.toBeUndefined();
    workers.promote(workers.copy(), 'b');
    expect(await registry.isOfThisHistory(clock.now())).toBe(false);
    await expect(registry.assertSettled()).rejects.toMatchObject({ code: 'LEAF_NOT_READY', retryAfterMs: 3000 });
  });

  it('a claim goes on at once if its record cannot have been replaced', async () => {
    const resume = async (ceiling: number): Promise<[boolean, boolean]> => {
      const changed = workers.replace(held(), { ...held().record, ceiling, write: 7 })!;
      const own = holder();
      const claim = await registry.resume(own, changed, 1);
      expect([claim.workerId, claim.floor, claim.ceiling, own.attempted]).toEqual([rig.workerId, 1, ceiling, 7]);
      const document = await registry.history();
      return [claim.isOf(document), claim.isOf({ ...document, generation: document.generation - 1 })];
    };
    expect(await resume(floor() + 1)).toEqual([true, false]);
    expect(await resume(floor())).toEqual([false, true]);
    workers.promote(workers.copy(), 'b');
    expect(await resume(clock.now() + HOUR)).toEqual([false, true]);
  });

  it('windows are registered again in one write, beside those that are there', async () => {
    const server = windowServer(workers, clock, 1, { maxWorkerId: 9 });
    const issue = async (number: number): Promise<number> =>
      (await server.windows.issue(lease(number), 'billing', HOUR)).window.workerId;
    const issued = [await issue(1)];
    const copy = workers.copy();
    issued.push(await issue(2), await issue(3));
    const before = new Map(workers.records);
    workers.promote(copy, 'b');
    const [created, replaced] = [jest.spyOn(server.store, 'createAll'), jest.spyOn(server.store, 'replace')];
    await server.windows.keep();
    expect(created.mock.calls.map(([, missing]) => missing.map(({ workerId }) => workerId))).toEqual([issued.slice(1)]);
    expect(replaced).not.toHaveBeenCalled();
    for (const workerId of issued) {
      const { leaseId, ceiling, free } = before.get(workerId)!.record;
      expect(stored(workerId).record).toMatchObject({ leaseId, ceiling, free });
    }
    // They are of the new history: nothing is left to do.
    created.mockClear();
    await server.windows.keep();
    expect(created).not.toHaveBeenCalled();
  });

  it('windows are registered once more when the history is lost again meanwhile', async () => {
    const server = windowServer(workers, clock, 1, { maxWorkerId: 9 });
    const { window } = await server.windows.issue(lease(1), 'billing', HOUR);
    const copy = workers.copy();
    workers.promote(copy, 'b');
    const { list } = { list: server.store.list.bind(server.store) };
    let lists = 0;
    server.store.list = async () => {
      const all = await list();
      if (++lists === 3) workers.promote(copy, 'c');
      return all;
    };
    await server.windows.keep();
    expect(workers.origin).toBe('c');
    const again = jest.spyOn(server.store, 'replace');
    await server.windows.keep();
    await server.windows.keep();
    expect(stored(window.workerId).record.ceiling).toBe(window.until);
    expect(again.mock.calls.length).toBeLessThan(2);
  });
});

describe('The comparison of clocks', () => {
  let server: WindowServer;
  let asked: jest.SpyInstance;
  let number = 1;

  beforeEach(() => {
    server = windowServer(workers, clock, 1, { maxWorkerId: 9, most: 9 });
    asked = jest.spyOn(server.store, 'timeSources');
    return clock.advance(1000);
  });

  const issue = async (): Promise<number> => {
    await server.windows.issue(lease(number++), 'billing', MINUTE);
    return asked.mock.calls.length;
  };

  it('serves the windows of ten seconds', async () => {
    expect(await issue()).toBe(1);
    await clock.advance(9999);
    expect(await issue()).toBe(1);
    await clock.advance(1);
    expect(await issue()).toBe(2);
  });

  it.each([1, -1])('is repeated after a step of the clock of 100 ms, in direction %d', async (direction) => {
    expect(await issue()).toBe(1);
    clock.step(99 * direction);
    expect(await issue()).toBe(1);
    clock.step(direction);
    expect(await issue()).toBe(2);
    expect(await issue()).toBe(2);
  });

  it('is made for each acquisition of a server', async () => {
    asked = jest.spyOn(store, 'timeSources');
    for (const calls of [1, 2]) {
      await registry.acquire(holder(), () => Promise.resolve());
      expect(asked).toHaveBeenCalledTimes(calls);
    }
  });

  it.each([
    ['without other servers', {}, [], true],
    ['with a right one', {}, [0], true],
    ['with one that does not answer', {}, [NaN], false],
    ['with one that answers and one that does not', {}, [0, NaN], true],
    ['where it is disabled', { maxClockOffsetMs: 0 }, [0], false],
  ])('%s decides whether an expired worker ID may be taken', async (_, options, offsets, takes) => {
    await clock.advance(2 * HOUR);
    const next = new LeaseRig(clock, store, { policy: 'pool', instance: { port: 2 }, maxWorkerId: 9, ...options });
    for (let workerId = 0; workerId < 10; workerId++) workers.records.set(workerId, { ...held(), workerId });
    store.sources = offsets.map((offset, index) => ({
      name: `10.0.0.8:${index}`,
      ask: () =>
        Number.isNaN(offset) ? Promise.reject(new Error('No answer')) : Promise.resolve(clock.now() + offset),
    }));
    // It does not ask itself.
    store.sources.push({ name: '10.0.0.7:2', ask: () => Promise.resolve(0) });
    const started = inTime(clock, next.lease.acquire());
    if (takes) await expect(started).resolves.toBeUndefined();
    else await expect(started).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
  });
});

it('A registry passes on what its store knows, and closes it with the worker file', async () => {
  const file = new InMemoryWorkerFile();
  const ended = [jest.spyOn(file, 'close'), jest.spyOn(store, 'close'), jest.spyOn(store, 'abort')];
  const one = new LeaseRig(clock, store, { policy: 'pool', instance: { port: 2 }, maxWorkerId: 9, file });
  expect([workers.document!.continues, one.registry.isPool]).toEqual([false, true]);
  await one.start();
  expect(workers.document!.continues).toBe(true);
  expect(await one.registry.records()).toHaveLength(2);
  const peers = jest.spyOn(store, 'peers').mockResolvedValue([{ instance: '10.0.0.8:80', workerId: 7 }]);
  expect(await one.registry.peers()).toEqual([{ instance: '10.0.0.8:80', workerId: 7 }]);
  expect(peers).toHaveBeenCalledWith(clock.now());
  await one.registry.abort();
  await one.registry.close();
  expect(ended.map((spy) => spy.mock.calls.length)).toEqual([1, 1, 1]);
  await registry.close();
});
