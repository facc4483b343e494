import { LeaseRig, type LeaseRigOptions } from '../../../../../test/support/fakes/lease-rig';
import { windowServer } from '../../../../../test/support/fakes/window-server';
import { FakeClock } from '../../clock/fake-clock';
import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';
import type { StoredWorker } from '../records/worker-store';

const HOUR = 3_600_000;
const PERIOD = HOUR / 4;

describe('The records that the maintenance of a registry reads', () => {
  let clock: FakeClock;
  let workers: InMemoryWorkers;
  let store: InMemoryWorkerStore;
  let turn: LeaseRig;

  beforeEach(async () => {
    clock = new FakeClock();
    workers = new InMemoryWorkers();
    store = new InMemoryWorkerStore(workers);
    turn = await server(1, {}, store);
  });

  function server(port: number, options: LeaseRigOptions = {}, by = new InMemoryWorkerStore(workers)) {
    return new LeaseRig(clock, by, { policy: 'pool', maxWorkerId: 9, instance: { port }, ...options }).start();
  }

  const stored = ({ workerId }: LeaseRig): StoredWorker => workers.records.get(workerId!)!;
  const isFree = (rig: LeaseRig): boolean => stored(rig).record.free;

  /** Maintains, `ms` after the last time. */
  async function maintain(ms: number, rig = turn): Promise<void> {
    await clock.advance(ms);
    await rig.registry.maintain();
  }

  it('are read once in a quarter of the lease TTL', async () => {
    const list = jest.spyOn(store, 'list');
    await maintain(0);
    await maintain(PERIOD - 1);
    expect(list).toHaveBeenCalledTimes(1);
    await maintain(1);
    expect(list).toHaveBeenCalledTimes(2);
  });

  it('become free after the lease TTL without a change, and keep all else', async () => {
    const other = await server(2);
    const { record } = stored(other);
    await maintain(0);
    for (let left = HOUR - PERIOD; left > 0; left -= PERIOD) await maintain(PERIOD);
    await maintain(PERIOD - 1);
    expect(isFree(other)).toBe(false);
    await maintain(PERIOD);
    expect(stored(other).record).toEqual({ ...record, free: true });
    const { version } = stored(other);
    await maintain(HOUR);
    await maintain(HOUR);
    expect(stored(other).version).toBe(version);
  });

  it('are watched anew after each change, and since they were there', async () => {
    const other = await server(2);
    await maintain(0);
    await clock.advance(HOUR);
    await other.report();
    const late = await server(3);
    await maintain(0);
    await maintain(HOUR - 1);
    expect([isFree(other), isFree(late)]).toEqual([false, false]);
    await maintain(PERIOD);
    expect([isFree(other), isFree(late)]).toEqual([true, true]);
  });

  it('are watched since the end of the first reading, until the begin of the last', async () => {
    const other = await server(2);
    const list = store.list.bind(store);
    store.list = async (...instance) => {
      await clock.advance(1000);
      const all = await list(...instance);
      await clock.advance(1000);
      return all;
    };
    await maintain(0);
    await maintain(HOUR - 1);
    expect(isFree(other)).toBe(false);
    await maintain(PERIOD);
    expect(isFree(other)).toBe(true);
  });

  it('are watched for the longest lease TTL of the registry', async () => {
    const other = await server(2, { leaseTtlMs: 2 * HOUR });
    await maintain(0);
    await maintain(2 * HOUR - 1);
    expect(isFree(other)).toBe(false);
    await maintain(PERIOD);
    expect(isFree(other)).toBe(true);
  });

  it('stay as they are where they belong to one address each', async () => {
    const fixed = new InMemoryWorkers();
    const rigs = [1, 2].map(
      (port) => new LeaseRig(clock, new InMemoryWorkerStore(fixed), { instance: { port }, leaseTtlMs: HOUR }),
    );
    for (const rig of rigs) await rig.start();
    for (let n = 0; n < 10; n++) await maintain(PERIOD, rigs[0]);
    expect([...fixed.records.values()].map(({ record }) => record.free)).toEqual([false, false]);
    expect(rigs[0]!.registry.usage).toEqual({ used: 2, most: 1024 });
  });

  it('of a window become free when it has ended, though nobody writes them', async () => {
    const { windows } = windowServer(workers, clock, 1, { maxWorkerId: 9 });
    const { window } = await windows.issue('0'.repeat(32), 'billing', 3 * HOUR);
    const record = (): StoredWorker => workers.records.get(window.workerId)!;
    await maintain(0);
    await maintain(window.until - clock.now());
    expect(record().record.free).toBe(false);
    await maintain(PERIOD);
    await maintain(3 * HOUR);
    expect(record().record.free).toBe(true);
  });

  it('are counted for the other servers, and those with another range count their own', async () => {
    const [same, other] = [new InMemoryWorkerStore(workers), new InMemoryWorkerStore(workers)];
    const rigs = [await server(2, {}, same), await server(3, { workers: { first: 5, last: 9 } }, other)];
    const lists = [same, other].map((each) => jest.spyOn(each, 'list'));
    const calls = (): number[] => lists.map((list) => list.mock.calls.length);
    await maintain(0);
    expect(workers.document!.maintained).toEqual({ at: clock.now(), usage: { used: 3, most: 10 } });
    const before = calls();
    for (const rig of rigs) await rig.registry.maintain();
    expect(rigs.map(({ registry }) => registry.usage)).toEqual([
      { used: 3, most: 10 },
      { used: workersFrom(5), most: 5, first: 5 },
    ]);
    expect(calls()).toEqual([before[0], before[1]! + 1]);
    // Not again before the next period.
    for (const rig of rigs) await rig.registry.maintain();
    expect(calls()).toEqual([before[0], before[1]! + 1]);
  });

  const workersFrom = (first: number): number => [...workers.records.keys()].filter((id) => id >= first).length;

  it('keep the time of the turn while they cannot be read', async () => {
    await maintain(0);
    jest.spyOn(store, 'list').mockRejectedValueOnce(new Error('Not now.'));
    await expect(maintain(PERIOD)).rejects.toThrow('Not now.');
    const { at } = workers.document!.maintained!;
    expect(at).toBe(clock.now());
    await maintain(1000);
    expect(workers.document!.maintained).toEqual({ at, usage: { used: 1, most: 10 } });
    await maintain(PERIOD);
    expect(workers.document!.maintained!.at).toBe(clock.now());
  });
});
