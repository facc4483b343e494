import { InMemoryWorkers, InMemoryWorkerStore } from '../testing/in-memory-worker-store';
import { LeaseRig, REPORT_MS } from '../../../../test/support/fakes/lease-rig';
import { FakeClock } from '../clock/fake-clock';
import type { StoredRegistry } from './worker-store';

const START = 1_700_000_000_000;
const HOUR = 3_600_000;
const LEASE_TTL = 10_000;

/** The clock of the server steps ahead during the first reply of the registry. */
class SteppingStore extends InMemoryWorkerStore {
  stepMs = 0;

  constructor(
    workers: InMemoryWorkers,
    private readonly clock: FakeClock,
  ) {
    super(workers);
  }

  override async readRegistry(): Promise<StoredRegistry> {
    this.clock.step(this.stepMs);
    this.stepMs = 0;
    return super.readRegistry();
  }
}

describe('A clock that steps ahead after it was compared', () => {
  let workers: InMemoryWorkers;
  let clock: FakeClock;
  let stepped: FakeClock;

  beforeEach(() => {
    workers = new InMemoryWorkers();
    clock = new FakeClock(START);
  });

  async function pass(ms: number): Promise<void> {
    await clock.advance(ms);
    await stepped.advance(ms);
  }

  it('does not shorten the wait for the ceiling of a running server with the same address', async () => {
    const one = await new LeaseRig(clock, new InMemoryWorkerStore(workers)).start();
    stepped = new FakeClock(clock.now());
    const two = new LeaseRig(stepped, new InMemoryWorkerStore(workers));
    const acquired = two.lease.acquire();
    const refused = expect(acquired).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
    await pass(REPORT_MS / 3);
    stepped.step(HOUR);
    await pass(REPORT_MS / 3);
    expect(two.terms).toEqual([]);
    await one.report();
    await pass(REPORT_MS / 3);
    await refused;
    expect(one.ids.tryNext()).toBeDefined();
  });

  it('ends the wait where a registry loses no write', async () => {
    const store = new InMemoryWorkerStore(workers);
    const one = await new LeaseRig(clock, store, { remembers: true }).start();
    stepped = new FakeClock(clock.now());
    const two = new LeaseRig(stepped, store, { remembers: true });
    const acquired = two.lease.acquire();
    await pass(REPORT_MS / 3);
    stepped.step(HOUR);
    await pass(REPORT_MS / 3);
    await acquired;
    expect(two.terms).toMatchObject([{ workerId: 0 }]);
    // The record no longer belongs to the first server.
    await one.report();
    expect(one.losses).toMatchObject([{ code: 'LEAF_LEASE_LOST' }]);
    expect(two.terms[0]?.floor).toBeGreaterThanOrEqual(START + LEASE_TTL);
  });

  it('does not make a worker of a pool look expired', async () => {
    await new LeaseRig(clock, new InMemoryWorkerStore(workers), { policy: 'pool', maxWorkerId: 0 }).start();
    stepped = new FakeClock(clock.now());
    const store = new SteppingStore(workers, stepped);
    store.stepMs = 2 * HOUR;
    const two = new LeaseRig(stepped, store, { policy: 'pool', maxWorkerId: 0 });
    await expect(two.lease.acquire()).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
  });
});
