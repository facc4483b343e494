import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';
import { LeaseRig, type LeaseRigOptions, pass, POOL_GRACE_MS } from '../../../../../test/support/fakes/lease-rig';
import { FakeClock } from '../../clock/fake-clock';
import { WorkerStore } from '../records/worker-store';

const HOUR = 3_600_000;

describe('WorkerRegistry', () => {
  let clock: FakeClock;
  let workers: InMemoryWorkers;

  beforeEach(() => {
    clock = new FakeClock();
    workers = new InMemoryWorkers();
  });

  const server = (port: number, options?: LeaseRigOptions, at = clock): LeaseRig =>
    new LeaseRig(at, new InMemoryWorkerStore(workers), { instance: { port }, ...options });

  it.each([
    [{ leaseTtlMs: NaN }, 'leaseTtlMs must be a whole number from 2 to 2147483647, not NaN'],
    [{ leaseTtlMs: -10 }, 'leaseTtlMs must be a whole number from 2 to 2147483647, not -10'],
    [{ reportMs: 1.5 }, 'reportMs must be a whole number from 1 to 2147483647, not 1.5'],
    [{ leaseTtlMs: 5999, reportMs: 3000 }, 'leaseTtlMs (5999) must be at least twice the report interval (3000)'],
    [
      { maxClockOffsetMs: 'abc' as unknown as number },
      'maxClockOffsetMs must be a whole number from 0 to 2147483647, not "abc"',
    ],
  ])('refuses the options %j', (options, message) => {
    const invalid = { code: 'LEAF_CONFIG_INVALID', message: expect.stringContaining(message) };
    expect(() => server(1, options)).toThrow(expect.objectContaining(invalid));
  });

  it('lists all invalid options', () => {
    const invalid = { message: expect.stringMatching(/reportMs must.*\n.*leaseTtlMs must/s) };
    expect(() => server(1, { leaseTtlMs: NaN, reportMs: NaN })).toThrow(expect.objectContaining(invalid));
  });

  it('refuses a server of another layout', async () => {
    await server(1).start();
    const other = server(2, { layout: '41,5,17@1288834974657' });
    const mismatch = {
      code: 'LEAF_LAYOUT_MISMATCH',
      message: expect.stringMatching(/41,10,12@\d+, this server uses 41,5,17@/),
    };
    await expect(other.start()).rejects.toMatchObject(mismatch);
  });

  it('refuses a server of another strategy at the same place', async () => {
    await server(1, { name: 'mysql' }).start();
    const other = server(2, { name: 'database', policy: 'pool' });
    const mismatch = {
      code: 'LEAF_REGISTRY_MISMATCH',
      message: expect.stringContaining('Set the option snowflake.registry to mysql'),
    };
    await expect(other.start()).rejects.toMatchObject(mismatch);
  });

  it('refuses to begin beside workers of another strategy that are in use', async () => {
    const store = new InMemoryWorkerStore(workers);
    store.otherStrategies = () => Promise.resolve('3 in the table leaf_workerid_alloc');
    const one = new LeaseRig(clock, store, { policy: 'pool' });
    const mismatch = { code: 'LEAF_REGISTRY_MISMATCH', message: expect.stringContaining('3 in the table') };
    await expect(one.start()).rejects.toMatchObject(mismatch);
    expect(workers.document).toBeUndefined();
  });

  it('blocks all servers during the grace period of a new registry, and later servers not at all', async () => {
    const first = server(1, { policy: 'pool' });
    const began = clock.now();
    await first.start();
    expect(clock.now() - began).toBeGreaterThanOrEqual(POOL_GRACE_MS);
    const later = server(2, { policy: 'pool' });
    await later.lease.acquire();
    expect(later.waits).toStrictEqual([]);
  });

  it('asks a server with a wrong clock to correct it', async () => {
    const store = new InMemoryWorkerStore(workers);
    store.sources = [{ name: '10.0.0.8:8080', ask: () => Promise.resolve(clock.now() + 60_000) }];
    const one = new LeaseRig(clock, store);
    await expect(one.start()).rejects.toMatchObject({ code: 'LEAF_CLOCK_OFFSET' });
    await expect(new LeaseRig(clock, store, { maxClockOffsetMs: 0 }).start()).resolves.toBeDefined();
  });

  it('a server whose clock is an hour ahead takes no worker from four others', async () => {
    const right = [1, 2, 3, 4].map((port) => server(port, { policy: 'pool' }));
    for (const each of right) await each.start();
    const wrong = new FakeClock();
    const bad = server(5, { policy: 'pool' }, wrong);
    wrong.step(clock.now() - wrong.now() + 1);
    await bad.start();
    wrong.step(2 * HOUR);
    for (let i = 0; i < 20; i++) {
      await pass(right, clock, 120_000);
      await pass([bad], wrong, 120_000);
      await bad.registry.maintain();
    }
    expect(right.map(({ losses, historiesLost, terms }) => [losses, historiesLost, terms.length])).toEqual(
      right.map(() => [[], [], 1]),
    );
    expect([...workers.records.values()].every(({ record }) => !record.free)).toBe(true);
  });

  it('frees a worker unchanged for the lease TTL by the monotonic clock, and its holder takes it back', async () => {
    const [holder, other] = [server(1, { policy: 'pool' }), server(2, { policy: 'pool' })];
    await holder.start();
    await other.start();
    for (let i = 0; i < 6; i++) {
      await other.registry.maintain();
      await pass([other], clock, HOUR / 4);
    }
    const mine = holder.workerId!;
    expect(workers.records.get(mine)!.record.free).toBe(true);
    await holder.report();
    expect(workers.records.get(mine)!.record).toMatchObject({ free: false });
    expect(holder.losses).toStrictEqual([]);
    expect(holder.ids.tryNext()).toBeDefined();
  });

  it('reads all records at most four times in the lease TTL', async () => {
    const one = await server(1, { policy: 'pool' }).start();
    let lists = 0;
    const store = InMemoryWorkerStore.prototype;
    const spy = jest.spyOn(store, 'list').mockImplementation(() => {
      lists++;
      return Promise.resolve([]);
    });
    for (let i = 0; i < 30; i++) {
      await one.registry.maintain();
      await clock.advance(120_000);
    }
    spy.mockRestore();
    expect(lists).toBeLessThanOrEqual(4);
  });

  it('takes one worker in a start whose replies are lost', async () => {
    await server(1, { policy: 'pool' }).start();
    const store = new InMemoryWorkerStore(workers);
    const one = new LeaseRig(clock, store, { policy: 'pool', instance: { port: 2 } });
    store.line = 'answers are lost';
    jest.spyOn(store, 'readRegistry').mockImplementation(() => Promise.resolve(workers.registry()));
    jest.spyOn(store, 'list').mockImplementation(() => Promise.resolve([...workers.records.values()]));
    for (let i = 0; i < 10; i++) {
      await one.lease.acquire().catch(() => undefined);
      await clock.advance(1000);
    }
    store.line = 'up';
    await one.lease.acquire();
    expect(workers.records.size).toBe(2);
    expect(one.workerId).toBeDefined();
  });

  it('reuses the number of a removed record only once its holder must have noticed', async () => {
    const holder = await server(1).start();
    await server(2).start();
    workers.records.delete(holder.workerId!);
    workers.wipeNumbering();
    const began = clock.now();
    const next = await server(3).start();
    expect(next.workerId).toBe(holder.workerId);
    expect(next.terms[0]!.floor).toBeGreaterThanOrEqual(began + 15_000);
    expect(next.ids.tryNext()).toBeUndefined();
    await holder.report();
    expect(holder.losses).toHaveLength(1);
  });

  it('watches a record of the Java service before it takes it over', async () => {
    await server(1).start();
    const { version } = workers.records.get(0)!;
    const java = (): void => {
      const instance = { ip: '10.0.0.7', port: 1 };
      workers.records.set(0, {
        ...{ workerId: 0, version: `${version}-${clock.now()}` },
        record: { instance, leaseId: undefined, write: 0, ceiling: clock.now(), free: false },
      });
    };
    java();
    const next = server(1);
    const acquired = next.lease.acquire();
    acquired.catch(() => undefined);
    for (let i = 0; i < 3; i++) {
      await clock.advance(3000);
      java();
    }
    await clock.advance(3000);
    await expect(acquired).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
    // It was stopped.
    await clock.advance(10_000);
    await expect(server(1).start()).resolves.toMatchObject({ workerId: 0 });
  });
});

it('a store with default methods has no peers, and closes', async () => {
  const store = new InMemoryWorkerStore(new InMemoryWorkers());
  store.announce({ ip: '10.0.0.7', port: 8080 }, 7);
  expect(await store.otherStrategies(() => true)).toBeUndefined();
  expect(await store.peers(0)).toStrictEqual([]);
  expect(await WorkerStore.prototype.timeSources.call(store)).toStrictEqual([]);
  await expect(store.abort()).resolves.toBeUndefined();
  await expect(store.close()).resolves.toBeUndefined();
});
