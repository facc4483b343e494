import { FakeClock, InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { InMemoryWorkerFile } from '../../../../../test/support/fakes/in-memory-worker-file';
import { inTime, LeaseRig, type LeaseRigOptions, pass } from '../../../../../test/support/fakes/lease-rig';

const LEASE_TTL_MS = 10_000;
const OFFSET_MS = 5000;

let server: InMemoryWorkers;
beforeEach(() => (server = new InMemoryWorkers()));

function connect(clock: FakeClock, options: LeaseRigOptions): { rig: LeaseRig; store: InMemoryWorkerStore } {
  const store = new InMemoryWorkerStore(server);
  return { rig: new LeaseRig(clock, store, options), store };
}

/** A server issues IDs from its file during an outage of 40 s, and is killed. Returns its newest timestamp. */
async function outage(clock: FakeClock, file: InMemoryWorkerFile): Promise<number> {
  const { rig, store } = connect(clock, { file });
  await rig.start();
  await pass([rig], clock, 9000);
  store.line = 'down';
  await pass([rig], clock, 40_000);
  expect(rig.ids.tryNext()).toBeDefined();
  return rig.ids.lastTimestamp;
}

describe('a start with an empty data directory, after an outage in which the worker file replaced the registry', () => {
  it.each([0, 1000, OFFSET_MS])(
    'issues only above the IDs of the previous process, %d ms behind its clock',
    async (behind) => {
      const clock = new FakeClock();
      const newest = await outage(clock, new InMemoryWorkerFile());
      const later = new FakeClock(clock.now() + 500 - behind);
      const { rig } = connect(later, { file: new InMemoryWorkerFile() });
      await inTime(later, rig.lease.acquire());
      expect(rig.terms[0]!.floor).toBeGreaterThanOrEqual(newest);
      expect(later.now() - clock.now() + behind).toBeGreaterThan(LEASE_TTL_MS + OFFSET_MS);
    },
  );

  it('does so without a file of its own, because another server of the registry may have one', async () => {
    const clock = new FakeClock();
    const newest = await outage(clock, new InMemoryWorkerFile());
    const later = new FakeClock(clock.now() - OFFSET_MS);
    const { rig } = connect(later, {});
    await inTime(later, rig.lease.acquire());
    expect(rig.terms[0]!.floor).toBeGreaterThanOrEqual(newest);
  });

  it('waits only for the ceiling if the file is there', async () => {
    const clock = new FakeClock();
    const file = new InMemoryWorkerFile();
    await outage(clock, file);
    await clock.advance(LEASE_TTL_MS);
    const started = clock.now();
    const { rig } = connect(clock, { file });
    await inTime(clock, rig.lease.acquire());
    expect(clock.now() - started).toBeLessThan(1000);
  });
});

it('Where no server has a file, a start waits only for the recorded ceiling', async () => {
  const clock = new FakeClock();
  const first = await connect(clock, {}).rig.start();
  expect(server.document?.continues).toBe(false);
  await clock.advance(LEASE_TTL_MS + 1);
  const started = clock.now();
  const next = await connect(clock, {}).rig.start();
  expect([next.workerId, clock.now() - started]).toEqual([first.workerId, 0]);
});

it.each([true, undefined])(
  'A document of an earlier version says nothing: a file of %s is assumed',
  async (continues) => {
    const clock = new FakeClock();
    await connect(clock, {}).rig.start();
    server.document = { ...server.document!, continues };
    await clock.advance(LEASE_TTL_MS + 1);
    const started = clock.now();
    await connect(clock, {}).rig.start();
    expect(clock.now() - started).toBeGreaterThan(LEASE_TTL_MS + OFFSET_MS);
  },
);

it('A server whose registry has shown the lease of another process does not start from its file', async () => {
  const clock = new FakeClock();
  const file = new InMemoryWorkerFile();
  await connect(clock, { file }).rig.start();
  await clock.advance(LEASE_TTL_MS + 1);
  const other = await connect(clock, { file: new InMemoryWorkerFile() }).rig.start();
  await clock.advance(LEASE_TTL_MS + 1);
  const { rig, store } = connect(clock, { file });
  const acquired = rig.lease.acquire().catch((error: unknown) => error);
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  expect(rig.waits).toHaveLength(1);
  store.line = 'down';
  expect(await inTime(clock, acquired)).toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
  expect([rig.workerId, file.record?.state, other.workerId]).toEqual([undefined, 'lost', 0]);
});
