import { LeaseRig, type LeaseRigOptions, pass, REPORT_MS } from '../../../../../test/support/fakes/lease-rig';
import { windowServer } from '../../../../../test/support/fakes/window-server';
import { FakeClock } from '../../clock/fake-clock';
import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';

const LEASE = '0123456789abcdef0123456789abcdef';

/** Each write of the store loses the race against a write of another server. */
describe('A server that loses every race', () => {
  let clock: FakeClock;
  let workers: InMemoryWorkers;
  let store: InMemoryWorkerStore;

  beforeEach(() => {
    clock = new FakeClock();
    workers = new InMemoryWorkers();
    store = new InMemoryWorkerStore(workers);
  });

  const server = (options?: LeaseRigOptions): LeaseRig => new LeaseRig(clock, store, { remembers: true, ...options });
  const contested = (message: string): object => ({
    code: 'LEAF_REGISTRY_UNREACHABLE',
    message: expect.stringContaining(message) as string,
  });

  it('gives up beginning a generation', async () => {
    store.writeRegistry = () => Promise.resolve(false);
    await expect(server().start()).rejects.toMatchObject(contested('changed the document of the worker registry'));
  });

  it('gives up recording the highest worker ID', async () => {
    const write = store.writeRegistry.bind(store);
    store.writeRegistry = (read, document) =>
      read.document !== undefined && document.highest !== read.document.highest
        ? Promise.resolve(false)
        : write(read, document);
    const one = server({ remembers: false });
    await expect(one.start()).rejects.toMatchObject(contested('changed the document of the worker registry'));
  });

  it.each([
    ['fixed', 200],
    ['pool', 200 * 16],
  ] as const)('gives up acquiring a worker ID, policy %s, after %d tries', async (policy, tries) => {
    const create = jest.spyOn(store, 'create').mockResolvedValue(undefined);
    await expect(server({ policy }).start()).rejects.toMatchObject({
      ...contested('took every free record'),
      retryAfterMs: 1000,
    });
    expect(create).toHaveBeenCalledTimes(tries);
  });

  it('gives up a report and a release, and succeeds later', async () => {
    const one = await server().start();
    const replace = store.replace.bind(store);
    const refuse = jest.fn(() => Promise.resolve(undefined));
    store.replace = refuse;
    await one.report();
    expect(one.failures).toMatchObject([contested('was written by others 10 times in a row')]);
    store.replace = replace;
    await one.report();
    expect(one.failures).toHaveLength(1);
    expect(refuse).toHaveBeenCalledTimes(10);
    store.replace = refuse;
    await expect(one.lease.release()).rejects.toMatchObject(contested('was written by others 10 times in a row'));
    expect(refuse).toHaveBeenCalledTimes(20);
  });

  it('gives up registering again after a failover, and succeeds later', async () => {
    const one = await server({ remembers: false }).start();
    workers.promote(workers.copy(), 'b');
    const replace = store.replace.bind(store);
    const refuse = jest.fn(() => Promise.resolve(undefined));
    store.replace = refuse;
    await one.report();
    expect(one.failures).toMatchObject([contested('could not be written in 10 attempts')]);
    // The first one goes on from the record that it knows.
    expect(refuse).toHaveBeenCalledTimes(11);
    store.replace = replace;
    await one.report();
    expect([one.failures.length, one.registeredAgain]).toEqual([1, [0]]);
  });

  it('keeps its lease when the registry is unreachable after the registration', async () => {
    const one = await server({ remembers: false }).start();
    workers.promote(workers.copy(), 'b');
    const replace = store.replace.bind(store);
    const read = store.readRegistry.bind(store);
    store.replace = async (...write) => {
      const stored = await replace(...write);
      if (stored !== undefined) store.readRegistry = () => Promise.reject(new Error('No answer'));
      return stored;
    };
    await one.report();
    expect([one.failures, one.registeredAgain]).toEqual([[], [0]]);
    store.readRegistry = read;
    await pass([one], clock, REPORT_MS);
    expect(one.failures).toStrictEqual([]);
  });

  it('gives up a window that another server acquires under the same lease each time', async () => {
    const { rig, store: pool, windows } = windowServer(workers, clock, 1, { maxWorkerId: 1022 });
    await rig.start();
    const list = pool.list.bind(pool);
    pool.list = async (...instance) => {
      const all = await list(...instance);
      const own = all.filter(({ workerId, record }) => workerId !== rig.workerId && !record.free);
      return [...all, ...own.map((stored) => ({ ...stored, workerId: 1023 }))];
    };
    await expect(windows.issue(LEASE, 'billing', 60_000)).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    pool.list = list;
    expect(await windows.list()).toStrictEqual([]);
    await expect(windows.issue(LEASE, 'billing', 60_000)).resolves.toMatchObject({ isNew: true });
  });

  it('gives up releasing a window, and asks the caller to retry', async () => {
    const { rig, store: pool, windows } = windowServer(workers, clock, 1);
    await rig.start();
    await windows.issue(LEASE, 'billing', 60_000);
    const replace = pool.replace.bind(pool);
    pool.replace = () => Promise.resolve(undefined);
    await expect(windows.release(LEASE)).rejects.toMatchObject({ code: 'LEAF_NOT_READY', retryAfterMs: 1000 });
    pool.replace = replace;
    await windows.release(LEASE);
    expect(await windows.list()).toStrictEqual([]);
  });
});
