import { FakeClock, InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import {
  FIXED_GRACE_MS,
  givenTwice,
  inTime,
  LeaseRig,
  type LeaseRigOptions,
  pass,
  POOL_GRACE_MS,
  REPORT_MS,
} from '../../../../../test/support/fakes/lease-rig';

const clock = (): FakeClock => new FakeClock();
const rig = (time: FakeClock, server: InMemoryWorkers, options: LeaseRigOptions): LeaseRig =>
  new LeaseRig(time, new InMemoryWorkerStore(server), options);

describe('servers of one registry with different settings', () => {
  it.each([
    [{ reportMs: 3001 }, 'reportMs (3001) must be at most 3000'],
    [{ maxClockOffsetMs: 5001 }, 'maxClockOffsetMs (5001) must be at most 5000'],
    [{ leaseTtlMs: 7999 }, 'leaseTtlMs (7999) must be at least 8000'],
    [{ limits: { reportMs: 10_000, clockOffsetMs: 5000 }, reportMs: 10_001 }, 'reportMs (10001) must be at most 10000'],
  ])('refuses %j, which the others do not wait for', (options, message) => {
    const create = (): LeaseRig => rig(clock(), new InMemoryWorkers(), { policy: 'pool', ...options });
    expect(create).toThrow(expect.objectContaining({ code: 'LEAF_CONFIG_INVALID' }));
    expect(create).toThrow(message);
  });

  it('allows any settings where the registry loses no confirmed write', () => {
    const options = { remembers: true, reportMs: 60_000, leaseTtlMs: 120_000, maxClockOffsetMs: 60_000 };
    expect(() => rig(clock(), new InMemoryWorkers(), options)).not.toThrow();
  });

  it('lets a newcomer that reports often wait for a holder that reports seldom', async () => {
    const [time, server] = [clock(), new InMemoryWorkers()];
    const holder = await rig(time, server, { policy: 'pool', maxWorkerId: 1 }).start();
    server.wipe();
    const began = time.now();
    const newcomer = rig(time, server, { policy: 'pool', maxWorkerId: 1, reportMs: 100, maxClockOffsetMs: 10 });
    const acquired = newcomer.lease.acquire();
    await pass([holder], time, POOL_GRACE_MS + REPORT_MS);
    await inTime(time, acquired);
    expect(time.now() - began).toBeGreaterThanOrEqual(POOL_GRACE_MS);
    expect(newcomer.workerId).not.toBe(holder.workerId);
    expect(await givenTwice([holder, newcomer], time, 2000)).toStrictEqual([]);
  });

  it.each([10_000, 60_000])('records the longest lease TTL, with a first one of %d ms', async (leaseTtlMs) => {
    const [time, server] = [clock(), new InMemoryWorkers()];
    await rig(time, server, { leaseTtlMs }).start();
    await rig(time, server, { leaseTtlMs: 20_000, instance: { port: 2 } }).start();
    await rig(time, server, { instance: { port: 3 } }).start();
    expect(server.document?.horizonMs).toBe(Math.max(leaseTtlMs, 20_000));
  });

  it('extends the grace period by the lease TTL of a holder that registers again', async () => {
    const [time, server] = [clock(), new InMemoryWorkers()];
    const [cut, holder] = [1, 2].map((port) => rig(time, server, { leaseTtlMs: 60_000, instance: { port } }));
    await cut!.start();
    await holder!.start();
    server.wipe();
    const began = time.now();
    const newcomer = rig(time, server, { instance: { port: 3 } });
    const acquired = newcomer.lease.acquire();
    await pass([holder!], time, FIXED_GRACE_MS);
    await inTime(time, acquired);
    expect(time.now() - began).toBeGreaterThanOrEqual(65_000);
  });

  it('waits for the longest lease TTL also when a newcomer with a shorter one is the first after a failover', async () => {
    const [time, server] = [clock(), new InMemoryWorkers()];
    await rig(time, server, { leaseTtlMs: 60_000 }).start();
    server.promote(server.copy(), 'b');
    const began = time.now();
    await inTime(time, rig(time, server, { instance: { port: 2 } }).lease.acquire());
    expect(time.now() - began).toBeGreaterThanOrEqual(65_000);
  });

  it('waits for a ceiling of a longer lease TTL than its own', async () => {
    const [time, server] = [clock(), new InMemoryWorkers()];
    const holder = await rig(time, server, { leaseTtlMs: 60_000 }).start();
    const { ceiling } = holder.lease;
    const next = await rig(time, server, {}).start();
    expect(next.terms[0]?.floor).toBeGreaterThanOrEqual(ceiling);
  });

  it('starts above the lease TTL of a holder whose record was removed', async () => {
    const [time, server] = [clock(), new InMemoryWorkers()];
    const first = await rig(time, server, { leaseTtlMs: 60_000 }).start();
    server.records.clear();
    server.wipeNumbering();
    const next = await rig(time, server, { instance: { port: 2 } }).start();
    expect(next.workerId).toBe(first.workerId);
    expect(next.terms[0]!.floor).toBeGreaterThanOrEqual(first.lease.ceiling);
  });
});
