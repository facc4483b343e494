import { FakeClock, InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { inTime, LeaseRig, type LeaseRigOptions, pass, REPORT_MS } from '../../../../test/support/fakes/lease-rig';

const DAY_MS = 86_400_000;
const clock = (): FakeClock => new FakeClock();
const rig = (time: FakeClock, server: InMemoryWorkers, options: LeaseRigOptions): LeaseRig =>
  new LeaseRig(time, new InMemoryWorkerStore(server), options);

describe.each(['pool', 'fixed'] as const)('a running server of a registry (%s) without a document', (policy) => {
  it('stops before a server of another layout issues IDs', async () => {
    const [time, server] = [clock(), new InMemoryWorkers()];
    const holder = await rig(time, server, { policy }).start();
    server.document = undefined;
    const newcomer = rig(time, server, { policy, layout: 'another layout', instance: { ip: '10.0.0.8' } });
    const acquired = newcomer.lease.acquire();
    await time.advance(1);
    await holder.report();
    expect(holder.losses).toMatchObject([{ code: 'LEAF_LAYOUT_MISMATCH' }]);
    expect(holder.ids.tryNext()).toBeUndefined();
    await inTime(time, acquired);
    await holder.report();
    expect(holder.ids.tryNext()).toBeUndefined();
  });

  it('writes it again, so that a server of another layout is refused', async () => {
    const [time, server] = [clock(), new InMemoryWorkers()];
    const holder = await rig(time, server, { policy }).start();
    server.document = undefined;
    await holder.report();
    const newcomer = rig(time, server, { policy, layout: 'another layout', instance: { ip: '10.0.0.8' } });
    await expect(newcomer.lease.acquire()).rejects.toMatchObject({ code: 'LEAF_LAYOUT_MISMATCH' });
    await pass([holder], time, 20 * REPORT_MS);
    expect(holder.losses).toEqual([]);
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
  expect(holder.lease.tenure).toBeUndefined();
  expect(holder.ids.tryNext()).toBeUndefined();
});
