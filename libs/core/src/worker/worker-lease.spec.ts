import {
  InMemoryWorkerRegistry,
  InMemoryWorkerStorage,
  type WorkerRecord,
} from '../../../../test/support/in-memory-worker-registry';
import { FakeClock } from '../clock/fake-clock';
import type { LeafError } from '../errors/leaf-error';
import { WorkerLease } from './worker-lease';
import type { LeaseHolder } from './worker-registry';

const START = 1_700_000_000_000;
const HORIZON = 10_000;
const OPTIONS = { horizonMs: HORIZON, maxWorkerId: 1023 };
const INSTANCE = { ip: '10.0.0.7', port: 8080 };

describe('WorkerLease', () => {
  let clock: FakeClock;
  let storage: InMemoryWorkerStorage;
  let registry: InMemoryWorkerRegistry;
  let leases: number;
  let losses: LeafError[];
  let failures: unknown[];

  beforeEach(() => {
    clock = new FakeClock(START);
    storage = new InMemoryWorkerStorage(7);
    registry = new InMemoryWorkerRegistry(storage);
    leases = 0;
    losses = [];
    failures = [];
  });

  const record = (): WorkerRecord => storage.recordOf('10.0.0.7:8080');

  function acquire(from = registry): Promise<WorkerLease> {
    return WorkerLease.acquire(from, INSTANCE, `lease-${++leases}`, clock, OPTIONS, {
      onLost: (error) => losses.push(error),
      onReportFailed: (error) => failures.push(error),
    });
  }

  /** Somebody else on the same `ip:port` takes the worker over. */
  const acquireTwin = (): Promise<WorkerLease> => acquire(new InMemoryWorkerRegistry(storage));

  it('reserves one horizon ahead', async () => {
    const lease = await acquire();
    expect(lease).toMatchObject({
      workerId: 7,
      floor: 0,
      ceiling: START + HORIZON,
      renewAfter: START + HORIZON / 2,
    });
    expect(lease.lost).toBeUndefined();
    expect(record()).toMatchObject({ workerId: 7, ceiling: START + HORIZON, leaseId: 'lease-1' });
    expect(lease.snapshot()).toMatchObject({
      registry: 'memory (shared)',
      instance: '10.0.0.7:8080',
      workerId: 7,
      floor: 0,
      ceiling: START + HORIZON,
      lost: undefined,
      report: { name: 'time-report', runs: 0, failures: 0 },
    });
  });

  it('passes the holder on', async () => {
    const holders: LeaseHolder[] = [];
    class Listening extends InMemoryWorkerRegistry {
      override acquire(
        ...[holder, propose]: Parameters<InMemoryWorkerRegistry['acquire']>
      ): ReturnType<InMemoryWorkerRegistry['acquire']> {
        holders.push(holder);
        return super.acquire(holder, propose);
      }
    }
    await acquire(new Listening(storage));
    expect(holders).toEqual([{ ...INSTANCE, leaseId: 'lease-1' }]);
  });

  describe('at the start', () => {
    it('begins above the ceiling before it', async () => {
      await acquire();
      await clock.advance(1000);
      const next = await acquireTwin();
      expect(next).toMatchObject({ floor: START + HORIZON, ceiling: START + 1000 + HORIZON });
    });

    it('records a ceiling above the one before, however the clock stands', async () => {
      await acquire();
      const next = await acquireTwin();
      expect(next).toMatchObject({ floor: START + HORIZON, ceiling: START + HORIZON + 1 });
      expect(record().ceiling).toBe(START + HORIZON + 1);
    });

    it('refuses a clock more than one horizon behind the recorded ceiling, and writes nothing', async () => {
      await acquire();
      const before = record();
      clock.step(-1);
      await expect(acquireTwin()).rejects.toMatchObject({
        code: 'LEAF_CLOCK_BEHIND',
        message: expect.stringContaining(`10.0.0.7:8080 is ${HORIZON + 1} ms behind`),
      });
      expect(record()).toEqual(before);
      clock.step(1);
      await expect(acquireTwin()).resolves.toMatchObject({ floor: START + HORIZON });
    });

    it('refuses a ceiling that is no date as it does any other', async () => {
      await acquire();
      Object.assign(record(), { ceiling: 9e15 });
      await expect(acquireTwin()).rejects.toMatchObject({ code: 'LEAF_CLOCK_BEHIND' });
    });

    it('says that the layout is too small even when the worker ID cannot be given back', async () => {
      storage = new InMemoryWorkerStorage(1024);
      registry = new InMemoryWorkerRegistry(storage);
      registry.release = () => Promise.reject(new Error('away'));
      await expect(acquire()).rejects.toMatchObject({ code: 'LEAF_LAYOUT_INVALID' });
    });

    it('lets a fault of the registry through', async () => {
      registry.failNextWrite('before');
      await expect(acquire()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    });

    it('gives back and refuses a worker ID that the layout does not hold', async () => {
      const first = new InMemoryWorkerStorage(1023);
      await expect(acquire(new InMemoryWorkerRegistry(first))).resolves.toMatchObject({ workerId: 1023 });
      const second = new InMemoryWorkerStorage(1024);
      await expect(acquire(new InMemoryWorkerRegistry(second))).rejects.toMatchObject({
        code: 'LEAF_LAYOUT_INVALID',
        message: expect.stringContaining('worker ID 1024'),
      });
      expect(second.writes.map(({ kind }) => kind)).toEqual(['acquire', 'release']);
      expect(second.recordOf('10.0.0.7:8080')).toMatchObject({ ceiling: 0, leaseId: undefined });
    });
  });

  describe('reporting', () => {
    it('extends to one horizon ahead', async () => {
      const lease = await acquire();
      await clock.advance(3000);
      await lease.report.run();
      expect(lease).toMatchObject({
        ceiling: START + 3000 + HORIZON,
        renewAfter: START + 3000 + HORIZON / 2,
        floor: 0,
      });
      expect(record().ceiling).toBe(START + 3000 + HORIZON);
      expect(lease.snapshot().report).toMatchObject({ runs: 1, failures: 0, lastSuccessAt: START + 3000 });
      await clock.advance(400);
      expect(lease.snapshot().sinceRecordedMs).toBe(400);
    });

    it('raises the ceiling only when the registry has recorded it', async () => {
      const lease = await acquire();
      const open = registry.holdWrites();
      await clock.advance(3000);
      const report = lease.report.run();
      await clock.advance(100);
      expect([lease.ceiling, record().ceiling]).toEqual([START + HORIZON, START + HORIZON]);
      open();
      await report;
      expect([lease.ceiling, record().ceiling]).toEqual([START + 3000 + HORIZON, START + 3000 + HORIZON]);
    });

    it('writes nothing while it would not raise the ceiling', async () => {
      const lease = await acquire();
      await lease.report.run();
      clock.step(-5000);
      await lease.report.run();
      expect(storage.writes.map(({ kind }) => kind)).toEqual(['acquire']);
      expect(lease.ceiling).toBe(START + HORIZON);
      expect(lease.snapshot().report).toMatchObject({ runs: 2, failures: 0 });
      await clock.advance(7);
      expect(lease.snapshot().sinceRecordedMs).toBe(7);
    });

    it.each(['before', 'after', 'late'] as const)('keeps its ceiling when the report fails (%s)', async (fault) => {
      const lease = await acquire();
      await clock.advance(3000);
      registry.failNextWrite(fault);
      await lease.report.run();
      expect(lease).toMatchObject({ ceiling: START + HORIZON, renewAfter: START + HORIZON / 2 });
      expect(lease.lost).toBeUndefined();
      expect(failures).toMatchObject([{ code: 'LEAF_REGISTRY_UNREACHABLE' }]);
      expect(losses).toEqual([]);
      storage.deliver();
      await clock.advance(3000);
      await lease.report.run();
      expect(lease.ceiling).toBe(START + 6000 + HORIZON);
      expect(record().ceiling).toBe(START + 6000 + HORIZON);
    });

    it('takes over the ceiling of its own lost write when the clock has stepped back', async () => {
      const lease = await acquire();
      await clock.advance(6000);
      registry.failNextWrite('after');
      await lease.report.run();
      clock.step(-3000);
      await lease.report.run();
      expect([lease.ceiling, record().ceiling]).toEqual([START + 6000 + HORIZON, START + 6000 + HORIZON]);
    });

    it('has lost for good when somebody else holds the worker', async () => {
      const lease = await acquire();
      const twin = await acquireTwin();
      await clock.advance(3000);
      await lease.report.run();
      expect(lease.lost).toMatchObject({ code: 'LEAF_LEASE_LOST' });
      expect(losses).toEqual([lease.lost]);
      expect(failures).toEqual([]);
      expect(lease.ceiling).toBe(START + HORIZON);
      expect(lease.snapshot().lost).toBe(lease.lost?.message);
      await twin.release(START + 3000);
      const before = storage.writes.length;
      await clock.advance(60_000);
      await lease.report.run();
      await lease.renew();
      expect(lease.lost).toBe(losses[0]);
      expect(losses).toHaveLength(1);
      expect(storage.writes).toHaveLength(before);
    });
  });

  describe('renewing', () => {
    it('joins the report under way', async () => {
      const lease = await acquire();
      await clock.advance(3000);
      await Promise.all([lease.renew(), lease.report.run(), lease.renew()]);
      expect(storage.writes.map(({ kind }) => kind)).toEqual(['acquire', 'extend']);
    });

    it('pauses after a failure, while the report goes on', async () => {
      const lease = await acquire();
      await clock.advance(3000);
      registry.failNextWrite('before');
      await lease.renew();
      await clock.advance(499);
      await lease.renew();
      expect(lease.snapshot().report).toMatchObject({ runs: 1, failures: 1 });
      await clock.advance(1);
      await lease.renew();
      expect(lease.ceiling).toBe(START + 3500 + HORIZON);
      registry.failNextWrite('before');
      await clock.advance(100);
      await lease.report.run();
      await lease.report.run();
      expect(lease.ceiling).toBe(START + 3600 + HORIZON);
    });

    it('does not reject', async () => {
      const lease = await acquire();
      await clock.advance(3000);
      registry.failNextWrite('before');
      await expect(lease.renew()).resolves.toBeUndefined();
    });
  });

  describe('releasing', () => {
    it('leaves the newest issued timestamp', async () => {
      const lease = await acquire();
      await lease.release(START + 77);
      expect(record()).toMatchObject({ ceiling: START + 77, leaseId: undefined });
      expect(await acquire()).toMatchObject({ floor: START + 77 });
    });

    it('leaves its floor when it has issued nothing', async () => {
      await acquire();
      const lease = await acquireTwin();
      await lease.release(-1);
      expect(record().ceiling).toBe(START + HORIZON);
    });

    it('issues nothing from the call on', async () => {
      const lease = await acquire();
      const open = registry.holdWrites();
      const released = lease.release(START);
      expect(lease.lost).toMatchObject({ code: 'LEAF_NOT_READY', message: expect.stringContaining('Worker 7') });
      open();
      await released;
      expect(losses).toEqual([]);
    });

    it('waits for the report under way', async () => {
      const lease = await acquire();
      const open = registry.holdWrites();
      await clock.advance(3000);
      const report = lease.report.run();
      const released = lease.release(START + 77);
      await clock.advance(1000);
      expect(storage.writes.map(({ kind }) => kind)).toEqual(['acquire']);
      open();
      await Promise.all([report, released]);
      expect(storage.writes.map(({ kind }) => kind)).toEqual(['acquire', 'extend', 'release']);
      expect(record().ceiling).toBe(START + 77);
    });

    it('finds its own lost report', async () => {
      const lease = await acquire();
      await clock.advance(3000);
      registry.failNextWrite('after');
      await lease.report.run();
      await lease.release(START + 77);
      expect(record().ceiling).toBe(START + 77);
    });

    it('writes nothing after it was lost', async () => {
      const lease = await acquire();
      await acquireTwin();
      await clock.advance(3000);
      await lease.report.run();
      const before = storage.writes.length;
      await expect(lease.release(START + 77)).resolves.toBeUndefined();
      expect(storage.writes).toHaveLength(before);
      expect(lease.lost).toMatchObject({ code: 'LEAF_LEASE_LOST' });
    });

    it('does not touch the record of a twin it does not know of', async () => {
      const lease = await acquire();
      await acquireTwin();
      const before = record();
      await expect(lease.release(START + 77)).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
      expect(record()).toEqual(before);
    });

    it('releases once', async () => {
      const lease = await acquire();
      await lease.release(START + 77);
      await lease.release(START + 99);
      expect(storage.writes.map(({ kind }) => kind)).toEqual(['acquire', 'release']);
    });

    it('reports no more', async () => {
      const lease = await acquire();
      await lease.release(START);
      await clock.advance(60_000);
      await lease.report.run();
      await lease.renew();
      expect(storage.writes).toHaveLength(2);
    });

    it('lets a fault of the registry through, and has given back all the same', async () => {
      const lease = await acquire();
      registry.failNextWrite('before');
      await expect(lease.release(START)).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
      expect(lease.lost).toMatchObject({ code: 'LEAF_NOT_READY' });
      expect(record().ceiling).toBe(START + HORIZON);
    });
  });
});
