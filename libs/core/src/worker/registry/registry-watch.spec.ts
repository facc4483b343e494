import { FakeClock, InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { inTime, LeaseRig, type LeaseRigOptions, pass, REPORT_MS } from '../../../../../test/support/fakes/lease-rig';

const DAY_MS = 86_400_000;
const clock = (): FakeClock => new FakeClock();
const rig = (time: FakeClock, server: InMemoryWorkers, options: LeaseRigOptions): LeaseRig =>
  new LeaseRig(time, new InMemoryWorkerStore(server), options);

describe.each(['pool', 'fixed'] as const)('a running server of a registry (%s) without a document', (policy) => {
  it('writes it again at its next report: a waiting server of another layout is refused', async () => {
    const [time, server] = [clock(), new InMemoryWorkers()];
    const holder = await rig(time, server, { policy }).start();
    server.document = undefined;
    const newcomer = rig(time, server, { policy, layout: 'another layout', instance: { ip: '10.0.0.8' } });
    const acquired = newcomer.lease.acquire();
    await time.advance(1);
    expect(newcomer.waits).toMatchObject([
      {
        code: 'LEAF_NOT_READY',
        message: expect.stringMatching(/1 worker IDs may be in use, for example worker \d+ by 10\.0\.0\.7:8080/),
      },
    ]);
    await holder.report();
    await expect(inTime(time, acquired)).rejects.toMatchObject({ code: 'LEAF_LAYOUT_MISMATCH' });
    await holder.report();
    expect(holder.losses).toStrictEqual([]);
    expect(holder.ids.tryNext()).toBeDefined();
  });

  it.each([false, true])(
    'keeps a server of another layout waiting until it has ended (remembers: %s)',
    async (remembers) => {
      const [time, server] = [clock(), new InMemoryWorkers()];
      const holder = await rig(time, server, { policy, remembers }).start();
      server.document = undefined;
      const { ceiling } = holder.lease;
      const options = { policy, remembers, layout: 'another layout', instance: { ip: '10.0.0.8' } };
      await rig(time, server, options).start();
      expect(time.now()).toBeGreaterThan(ceiling + 5000);
      await holder.report();
      expect(holder.ids.tryNext()).toBeUndefined();
      expect(holder.losses).toMatchObject([{ code: 'LEAF_LAYOUT_MISMATCH' }]);
    },
  );

  it('waits for the timestamps of a released worker ID, and not for a Java server of the same layout', async () => {
    const [time, server] = [clock(), new InMemoryWorkers()];
    const registry = server.registry();
    const java = {
      instance: { ip: '10.0.0.1', port: 1 },
      leaseId: undefined,
      write: 0,
      ceiling: time.now(),
      free: false,
    };
    server.create(registry, java, 1);
    const first = rig(time, server, { policy });
    const acquired = first.lease.acquire();
    await time.advance(1);
    expect(server.document).toBeDefined();
    server.document = undefined;
    server.create(registry, { ...java, leaseId: 'released', ceiling: time.now() + 20_000, free: true }, 2);
    await inTime(time, acquired);
    expect(first.waits).toMatchObject([{ message: expect.stringContaining('is new') }]);
    expect(server.registry().document?.began).toBeGreaterThan(java.ceiling + 20_000);
    server.document = undefined;
    server.create(registry, { ...java, ceiling: time.now() }, 3);
    const other = rig(time, server, { policy, layout: 'another layout', instance: { ip: '10.0.0.8' } });
    other.lease.acquire().catch(() => undefined);
    await time.advance(1);
    expect(server.document).toBeUndefined();
  });

  it('writes it again, so that a server of another layout is refused', async () => {
    const [time, server] = [clock(), new InMemoryWorkers()];
    const holder = await rig(time, server, { policy }).start();
    server.document = undefined;
    await holder.report();
    const newcomer = rig(time, server, { policy, layout: 'another layout', instance: { ip: '10.0.0.8' } });
    await expect(newcomer.lease.acquire()).rejects.toMatchObject({ code: 'LEAF_LAYOUT_MISMATCH' });
    await pass([holder], time, 20 * REPORT_MS);
    expect(holder.losses).toStrictEqual([]);
    expect(holder.ids.tryNext()).toBeDefined();
    expect(server.document).toMatchObject({ floor: expect.any(Number) });
  });
});

it('a server whose ceiling has passed gives up a record that was restored without a document', async () => {
  const [time, server] = [clock(), new InMemoryWorkers()];
  const holder = await rig(time, server, { policy: 'pool' }).start();
  const backup = [...server.records];
  await time.advance(DAY_MS);
  // Another server has taken the worker ID before the backup is restored.
  server.wipe();
  for (const [workerId, stored] of backup) server.records.set(workerId, stored);
  await holder.report();
  expect(holder.lease.term).toBeUndefined();
  expect(holder.ids.tryNext()).toBeUndefined();
});
