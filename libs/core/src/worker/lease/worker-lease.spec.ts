import { InMemoryWorkers, InMemoryWorkerStore, type Line } from '../../testing/in-memory-worker-store';
import {
  FIXED_GRACE_MS,
  givenTwice,
  LeaseRig,
  type LeaseRigOptions,
  pass,
  REPORT_MS,
} from '../../../../../test/support/fakes/lease-rig';
import { FakeClock } from '../../clock/fake-clock';
import type { WorkerRecord } from '../records/worker-store';

const START = 1_700_000_000_000;
const LEASE_TTL = 10_000;

describe('WorkerLease', () => {
  let clock: FakeClock;
  let workers: InMemoryWorkers;
  let store: InMemoryWorkerStore;

  beforeEach(() => {
    clock = new FakeClock(START);
    workers = new InMemoryWorkers(7);
    store = new InMemoryWorkerStore(workers);
  });

  const record = (workerId = 7): WorkerRecord => workers.records.get(workerId)!.record;
  const server = (options?: LeaseRigOptions, on = store): LeaseRig => new LeaseRig(clock, on, options);
  const started = (options?: LeaseRigOptions): Promise<LeaseRig> => server({ remembers: true, ...options }).start();

  it('reserves one lease TTL ahead', async () => {
    const { lease, terms } = await started();
    expect(lease).toMatchObject({ ceiling: START + LEASE_TTL, renewAfter: START + LEASE_TTL / 2 });
    expect(terms).toEqual([{ workerId: 7, floor: 0 }]);
    expect(record()).toMatchObject({ ceiling: START + LEASE_TTL, free: false, write: 1 });
    expect(lease.snapshot()).toMatchObject({
      ...{ registry: 'fixed (memory)', instance: '10.0.0.7:8080', workerId: 7, floor: 0, ceiling: START + LEASE_TTL },
      ...{ lost: undefined, report: { name: 'time-report', runs: 0, failures: 0 } },
    });
  });

  it('refuses IDs before it is acquired, and says why', () => {
    const { ids, lease } = server();
    expect(ids.tryNext()).toBeUndefined();
    expect(() => ids.next()).toThrow(expect.objectContaining({ code: 'LEAF_NOT_READY', retryAfterMs: 1000 }));
    expect(lease.snapshot()).toMatchObject({ workerId: undefined, floor: -1, ceiling: -1, degradedReason: undefined });
  });

  it('is acquired once, however often it is asked for', async () => {
    const one = await started();
    await one.lease.acquire();
    expect(one.terms).toHaveLength(1);
    expect(record().write).toBe(1);
  });

  describe('at the start', () => {
    it('waits until the ceiling before it has passed', async () => {
      await started();
      await clock.advance(1000);
      const next = await started();
      expect(next.terms).toEqual([{ workerId: 7, floor: START + LEASE_TTL }]);
      expect(clock.now()).toBeGreaterThan(START + LEASE_TTL);
      expect(next.waits).toMatchObject([{ code: 'LEAF_NOT_READY', retryAfterMs: 9001 }]);
    });

    it('refuses a clock further behind the recorded ceiling than the lease TTL and the offset, and writes nothing', async () => {
      await started();
      const before = record();
      clock.step(-5001);
      const next = server({ remembers: true });
      await expect(next.start()).rejects.toMatchObject({ code: 'LEAF_CLOCK_BEHIND' });
      expect(record()).toEqual(before);
      expect(next.ids.refusal()).toMatchObject({ code: 'LEAF_CLOCK_BEHIND' });
    });

    it('rejects with the fault of the registry, and can be tried again', async () => {
      store.line = 'down';
      const one = server({ remembers: true });
      await expect(one.start()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
      store.line = 'up';
      await one.report();
      await clock.advance(0);
      expect(one.workerId).toBe(7);
    });

    it('tells each reason of consecutive failures once', async () => {
      const one = server({ remembers: true });
      for (const line of ['down', 'down', 'answers are lost'] as const) {
        store.line = line;
        await expect(one.start()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
      }
      expect(one.failures).toMatchObject([{ code: 'LEAF_REGISTRY_UNREACHABLE' }]);
      store.line = 'up';
      await one.start();
      clock.step(-20_000);
      const next = server({ remembers: true });
      for (let n = 0; n < 2; n++) await expect(next.start()).rejects.toMatchObject({ code: 'LEAF_CLOCK_BEHIND' });
      store.line = 'down';
      await expect(next.start()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
      expect(next.failures).toMatchObject([{ code: 'LEAF_CLOCK_BEHIND' }, { code: 'LEAF_REGISTRY_UNREACHABLE' }]);
    });

    it('tells no failure because of its own end', async () => {
      await started();
      const next = server({ remembers: true });
      const refused = expect(next.lease.acquire()).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
      await clock.advance(100);
      await next.lease.release();
      await refused;
      expect(next.failures).toStrictEqual([]);
    });

    it('gives way to a running server with the same address', async () => {
      const first = await started();
      const second = server({ remembers: true });
      const acquired = second.lease.acquire();
      acquired.catch(() => undefined);
      await pass([first], clock, 15_000);
      await expect(acquired).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
      expect(first.losses).toStrictEqual([]);
      expect(first.ids.tryNext()).toBeDefined();
      expect(second.ids.refusal()).toMatchObject({ code: 'LEAF_WORKER_HELD' });
    });

    it('gives way to a running server with the same address whose clock is ahead', async () => {
      const ahead = new FakeClock(START + 1000);
      const first = await new LeaseRig(ahead, store, { remembers: true }).start();
      const acquired = server({ remembers: true }).lease.acquire();
      const refused = expect(acquired).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
      await clock.advance(REPORT_MS);
      await pass([first], ahead, REPORT_MS);
      await clock.advance(REPORT_MS);
      await refused;
      expect(first.losses).toStrictEqual([]);
    });

    it('takes over automatically when that server has ended', async () => {
      const first = await started();
      const second = server({ remembers: true });
      second.lease.acquire().catch(() => undefined);
      await pass([first], clock, 15_000);
      await pass([second], clock, 30_000);
      expect(second.workerId).toBe(7);
    });
  });

  describe('reporting', () => {
    it('extends to one lease TTL ahead', async () => {
      const { lease } = await started();
      await clock.advance(3000);
      await lease.report.run();
      expect(lease.ceiling).toBe(START + 3000 + LEASE_TTL);
      expect(record().ceiling).toBe(START + 3000 + LEASE_TTL);
      await clock.advance(400);
      expect(lease.snapshot().sinceRecordedMs).toBe(400);
    });

    it('raises the ceiling only when the registry has recorded it', async () => {
      const { lease } = await started();
      await clock.advance(3000);
      const report = lease.report.run();
      expect(lease.ceiling).toBe(START + LEASE_TTL);
      await report;
      expect(lease.ceiling).toBe(START + 3000 + LEASE_TTL);
    });

    it.each<Line>(['down', 'answers are lost', 'writes come late'])('keeps its ceiling when %s', async (line) => {
      const one = await started();
      await clock.advance(3000);
      store.line = line;
      await one.report();
      expect(one.lease.ceiling).toBe(START + LEASE_TTL);
      expect(one.failures).toMatchObject([{ code: 'LEAF_REGISTRY_UNREACHABLE' }]);
      store.line = 'up';
      store.deliver();
      await clock.advance(3000);
      await one.report();
      expect(one.losses).toStrictEqual([]);
      expect([one.lease.ceiling, record().ceiling]).toEqual([START + 6000 + LEASE_TTL, START + 6000 + LEASE_TTL]);
    });

    it('recognizes its own late write', async () => {
      const one = await started();
      store.line = 'writes come late';
      for (let i = 0; i < 3; i++) await pass([one], clock, REPORT_MS);
      store.line = 'up';
      await one.report();
      store.deliver();
      await pass([one], clock, 2 * REPORT_MS);
      expect(one.losses).toStrictEqual([]);
    });

    it('lowers the ceiling again after a report under a clock that was ahead', async () => {
      const one = await started();
      one.ids.next();
      const year = 31_536_000_000;
      clock.step(year);
      await one.report();
      expect(record().ceiling).toBeGreaterThan(START + year);
      clock.step(-year);
      await one.report();
      expect(record().ceiling).toBe(clock.now() + LEASE_TTL);
      const next = await started();
      expect(next.workerId).toBe(7);
    });

    it('lowers it to the newest ID that was issued, and no further', async () => {
      const one = await started();
      clock.step(3_600_000);
      await one.report();
      one.ids.next();
      clock.step(-3_600_000);
      await one.report();
      expect(record().ceiling).toBe(START + 3_600_000);
      await expect(started()).rejects.toMatchObject({ code: 'LEAF_CLOCK_BEHIND' });
    });

    it('lowers it in memory before the write leaves', async () => {
      const one = await started();
      one.ids.next();
      clock.step(3_600_000);
      await one.report();
      clock.step(-3_600_000);
      store.line = 'writes come late';
      await one.report();
      clock.step(LEASE_TTL + 1);
      expect(one.ids.tryNext()).toBeUndefined();
      expect(one.ids.refusal()).toMatchObject({ code: 'LEAF_LEASE_EXPIRED' });
    });

    it('renews on demand', async () => {
      const one = await started();
      await clock.advance(3000);
      await one.lease.renew();
      expect(record().ceiling).toBe(START + 3000 + LEASE_TTL);
    });

    it('pauses on-demand renewals after a failed report', async () => {
      const one = await started();
      store.line = 'down';
      await one.report();
      await one.lease.renew();
      expect(one.failures).toHaveLength(1);
      await clock.advance(500);
      await one.lease.renew();
      expect(one.failures).toHaveLength(2);
    });
  });

  describe('that was taken by another server', () => {
    async function overtaken(): Promise<LeaseRig> {
      const one = await started();
      const { version } = workers.records.get(7)!;
      workers.replace({ workerId: 7, record: record(), version }, { ...record(), leaseId: 'twin', write: 1 });
      return one;
    }

    it('ends permanently at the next report', async () => {
      const one = await overtaken();
      await one.report();
      expect(one.losses).toMatchObject([{ code: 'LEAF_LEASE_LOST' }]);
      expect(one.ids.tryNext()).toBeUndefined();
      await expect(one.lease.acquire()).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
      await pass([one], clock, 30_000);
      expect(one.losses).toHaveLength(1);
      await one.lease.release();
      expect(record().leaseId).toBe('twin');
      expect(one.ids.refusal()).toMatchObject({ code: 'LEAF_LEASE_LOST' });
    });

    it('leaves the record to the other one at a release', async () => {
      const one = await overtaken();
      await expect(one.lease.release()).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
      expect(record().leaseId).toBe('twin');
    });

    it.each([
      ['removed', (): unknown => workers.records.delete(7)],
      [
        'set back',
        (): unknown =>
          workers.records.set(7, { ...workers.records.get(7)!, version: 'x', record: { ...record(), write: 0 } }),
      ],
    ])('ends also if its record was %s in a registry with its full history', async (_, change) => {
      const one = await started();
      change();
      await one.report();
      expect(one.losses).toMatchObject([{ code: 'LEAF_LEASE_LOST' }]);
    });
  });

  describe('when the registry has lost its history', () => {
    it('registers again, and newcomers get other workers, above the time before', async () => {
      const holders = [await server().start(), await server({ instance: { port: 8081 } }).start()];
      workers.wipe();
      const newcomer = server({ instance: { port: 9000 } });
      const acquired = newcomer.lease.acquire();
      const twice = await givenTwice([...holders, newcomer], clock, 20_000);
      await acquired;
      expect(twice).toStrictEqual([]);
      expect(holders.map(({ terms, historiesLost }) => [terms.length, historiesLost])).toEqual([
        [1, []],
        [1, []],
      ]);
      expect(holders.map(({ registeredAgain }) => registeredAgain)).toEqual([[7], [8]]);
      expect(newcomer.workerId).toBe(9);
      expect(newcomer.terms[0]!.floor).toBeGreaterThanOrEqual(START + 2 * FIXED_GRACE_MS);
    });

    it('registers again what a failover has lost, the insert and the last reports', async () => {
      const old = await server().start();
      const copy = workers.copy();
      await pass([old], clock, REPORT_MS);
      const young = await server({ instance: { port: 8081 } }).start();
      workers.promote(copy, 'b');
      const newcomer = server({ instance: { port: 9000 } });
      newcomer.lease.acquire().catch(() => undefined);
      const twice = await givenTwice([old, young, newcomer], clock, 20_000);
      expect(twice).toStrictEqual([]);
      expect([old, young].map(({ losses, historiesLost }) => [...losses, ...historiesLost])).toEqual([[], []]);
      expect(new Set([old, young, newcomer].map(({ workerId }) => workerId)).size).toBe(3);
    });

    it('acquires another worker if its own was assigned to another server', async () => {
      const one = await server().start();
      const before = one.ids.next();
      store.line = 'down';
      const other = new InMemoryWorkerStore(workers);
      workers.wipe();
      await clock.advance(9000);
      const newcomer = await server({ instance: { port: 9000 } }, other).start();
      expect(newcomer.workerId).toBe(7);
      store.line = 'up';
      await pass([newcomer, one], clock, 30_000);
      expect(one.historiesLost).toEqual([7]);
      expect(one.workerId).toBe(8);
      expect(one.losses).toStrictEqual([]);
      expect(one.ids.next()).toBeGreaterThan(before);
    });

    it.each([
      [5000, []],
      [5001, [7]],
    ])('may register again until its ceiling may have passed: after %d ms', async (ms, lost) => {
      const one = await server().start();
      await clock.advance(one.lease.ceiling - LEASE_TTL - clock.now());
      workers.wipe();
      await clock.advance(ms);
      await one.report();
      expect(one.historiesLost).toEqual(lost);
      expect(one.ids.tryNext() === undefined).toBe(lost.length > 0);
      await pass([one], clock, 30_000);
      expect(one.ids.tryNext()).toBeDefined();
    });
  });

  describe('given back', () => {
    it('leaves the newest issued timestamp, so that the next start need not wait', async () => {
      const one = await started();
      clock.step(40);
      one.ids.next();
      await one.lease.release();
      expect(record()).toMatchObject({ ceiling: START + 40, free: true });
      clock.step(1);
      const next = await started();
      expect(next.waits).toStrictEqual([]);
      expect(next.terms).toEqual([{ workerId: 7, floor: START + 40 }]);
    });

    it('issues no ID from the start of the release', async () => {
      const one = await started();
      const released = one.lease.release();
      expect(one.ids.tryNext()).toBeUndefined();
      await released;
      await one.report();
      expect(record().free).toBe(true);
      expect(one.lease.release()).toBe(one.lease.release());
    });

    it('during an acquisition, releases the acquired worker', async () => {
      const one = server();
      const acquired = one.lease.acquire();
      await clock.advance(10);
      const released = one.lease.release();
      await expect(acquired).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
      await released;
      expect(one.terms).toStrictEqual([]);
    });

    it('during the last write of an acquisition, releases the acquired worker', async () => {
      const one = server({ remembers: true });
      const acquired = one.lease.acquire();
      const released = one.lease.release();
      await expect(acquired).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
      await released;
      expect(one.terms).toStrictEqual([]);
      expect(record()).toMatchObject({ free: true, ceiling: 0 });
    });

    it('with a lost reply is read back by the next start', async () => {
      const one = await started();
      store.line = 'answers are lost';
      await expect(one.lease.release()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
      store.line = 'up';
      const next = await started();
      expect(next.workerId).toBe(7);
    });
  });
});
