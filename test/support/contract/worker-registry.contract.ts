import { codeOf } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { failNextWrite, type Moment } from '../fakes/lost-answers';
import {
  CLOCK_OFFSET_MS,
  type WorkerProcess,
  type WorkerRegistryHarness,
  WorkerWorld,
} from '../servers/worker-processes';
import { workerWindowsContract } from './worker-windows.contract';

export type { WorkerRegistryHarness };

/** All workers of the default layout race in test/long/scale. */
const RACERS = 64;
const MOMENTS: readonly Moment[] = ['before', 'after'];
const LOST = { code: 'LEAF_LEASE_LOST' };
const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };

/** Contract of the lease protocol on every store, with the policy of the harness. */
export function workerRegistryContract(name: string, harness: WorkerRegistryHarness): void {
  describe(`${name} as a worker registry`, () => {
    const world = new WorkerWorld(harness);
    beforeEach(() => world.reset());
    afterEach(() => world.closeAll());

    acquiring(world);
    extending(world);
    unknownOutcomes(world);
    history(world, harness);
    if (harness.exclusive) fixedRecords(world, harness);
    else {
      pooledRecords(world);
      describe('with ranges of worker IDs', () => ranges(world));
      describe('with worker windows', () => workerWindowsContract(world));
    }
  });
}

function idsOf(processes: readonly WorkerProcess[]): Set<number> {
  return new Set(processes.map(({ claim }) => claim.workerId));
}

/** Its worker belongs to another process: permanently for a twin; a pool acquires another worker. */
async function expectLost(process: WorkerProcess): Promise<void> {
  if (process.exclusive) return expect(process.extend()).rejects.toMatchObject(LOST);
  const outcome = await process.extend().catch((error: unknown) => codeOf(error));
  expect([false, LOST.code]).toContain(outcome);
}

function acquiring(world: WorkerWorld): void {
  it('gives every instance a worker of its own', async () => {
    const processes = [await world.started(0), await world.started(1), await world.started(2)];
    expect(idsOf(processes).size).toBe(3);
    for (const each of processes) expect(await each.extend()).toBe(true);
  });

  it('gives servers that start together on an empty store different workers', async () => {
    const processes = await world.race(16);
    expect(idsOf(processes).size).toBe(16);
    const { document } = await (await world.store()).readRegistry();
    expect(document).toMatchObject({ generation: 1, floor: expect.any(Number) as number });
  });

  it('lets newcomers wait while the registry is young, and not after', async () => {
    const first = await world.started(0);
    expect(first.waited).toBeGreaterThanOrEqual(world.grace);
    expect(first.claim.floor).toBeGreaterThanOrEqual(new FakeClock().now() + world.grace);
    await world.clock.advance(1);
    expect((await world.started(1)).waited).toBe(0);
  });

  it('refuses a server of another layout', async () => {
    await world.started(0);
    const other = await world.open(1, { layout: '40,10,13' });
    await expect(other.acquire()).rejects.toMatchObject({ code: 'LEAF_LAYOUT_MISMATCH' });
  });

  it('gives a worker that was released again without a wait', async () => {
    const first = await world.started(0);
    await world.clock.advance(1000);
    await first.claim.release(world.clock.now() - 1);
    const again = await world.started(0);
    expect(again.claim.workerId).toBe(first.claim.workerId);
    // A store may round ceilings up by one.
    expect(again.waited).toBeLessThanOrEqual(1);
    await expectLost(first);
  });
}

function extending(world: WorkerWorld): void {
  it('extends again and again', async () => {
    const process = await world.started(0);
    for (let i = 0; i < 5; i++) {
      await world.clock.advance(3000);
      expect(await process.extend()).toBe(true);
      expect(process.claim.ceiling).toBe(world.clock.now() + world.leaseTtlMs);
      expect(await process.recorded()).toBeGreaterThanOrEqual(process.claim.ceiling);
    }
  });

  it('lets the ceiling fall', async () => {
    const process = await world.started(0);
    const ceiling = process.claim.ceiling - 2000;
    await process.claim.extend(ceiling + 50_000);
    await process.claim.extend(ceiling);
    expect(process.claim.ceiling).toBe(ceiling);
    expect((await process.recorded())! - ceiling).toBeLessThanOrEqual(1);
  });

  it('loses its worker once another server has written the record', async () => {
    const process = await world.started(0);
    const { workerId } = process.claim;
    const read = await process.store.read(workerId, process.holder.instance);
    await process.store.replace(read!, { ...read!.record, leaseId: 'another', write: 1 });
    for (let i = 0; i < 2; i++) await expectLost(process);
    expect((await process.store.read(workerId, process.holder.instance))?.record.leaseId).toBe('another');
  });
}

function unknownOutcomes(world: WorkerWorld): void {
  it.each(MOMENTS)('recognizes its acquisition when the answer is lost %s the write is applied', async (moment) => {
    await world.started(1);
    const process = await world.open(0);
    failNextWrite(process.store, moment);
    await expect(process.acquire()).rejects.toMatchObject(UNREACHABLE);
    await process.acquire();
    expect(await process.extend()).toBe(true);
    expect(await process.store.list()).toHaveLength(2);
  });

  it.each(MOMENTS)('recognizes its extension when the answer is lost %s the write is applied', async (moment) => {
    const process = await world.started(0);
    const { ceiling } = process.claim;
    await world.clock.advance(3000);
    failNextWrite(process.store, moment);
    await expect(process.extend()).rejects.toMatchObject(UNREACHABLE);
    expect(process.claim.ceiling).toBe(ceiling);
    expect(await process.extend()).toBe(true);
    expect(process.claim.ceiling).toBe(ceiling + 3000);
  });

  it.each(MOMENTS)('recognizes its release when the answer is lost %s the write is applied', async (moment) => {
    const process = await world.started(0);
    failNextWrite(process.store, moment);
    await expect(process.claim.release(world.clock.now())).rejects.toMatchObject(UNREACHABLE);
    await process.claim.release(world.clock.now());
    const read = await process.store.read(process.claim.workerId, process.holder.instance);
    expect(read?.record.free).toBe(true);
  });
}

function history(world: WorkerWorld, harness: WorkerRegistryHarness): void {
  /** A new process after a fault, while the holders of workers report. */
  async function join(holders: readonly WorkerProcess[]): Promise<WorkerProcess> {
    const newcomer = await world.open(9);
    newcomer.onWait = async () => {
      for (const each of holders) expect(await each.extend()).toBe(true);
    };
    await newcomer.acquire();
    return newcomer;
  }

  it('keeps every holder after it was emptied', async () => {
    const holders = [await world.started(0), await world.started(1)];
    const ids = idsOf(holders);
    const emptied = world.clock.now();
    await harness.reset();
    const newcomer = await join(holders);
    expect(newcomer.claim.floor).toBeGreaterThanOrEqual(emptied + world.grace);
    expect(idsOf([...holders, newcomer]).size).toBe(3);
    expect(idsOf(holders)).toEqual(ids);
    for (const each of [...holders, newcomer]) expect(await each.extend()).toBe(true);
  });

  it('lets a holder whose ceiling has passed acquire another worker', async () => {
    const late = await world.started(0);
    await world.clock.advance(world.leaseTtlMs);
    await harness.reset();
    expect(await late.extend()).toBe(false);
    const { workerId, ceiling } = late.claim;
    const newcomer = await world.started(1);
    await late.acquire();
    expect(idsOf([late, newcomer]).size).toBe(2);
    if (late.claim.workerId === workerId) expect(late.claim.floor).toBeGreaterThan(ceiling);
  });

  it('begins without a document only when the last worker that may be in use has expired', async () => {
    const { claim, holder, store } = await world.started(0);
    const { record } = (await store.read(claim.workerId, holder.instance))!;
    await harness.reset();
    const left = { ...record, ceiling: world.clock.now() + 10_001 };
    await store.create(await store.readRegistry(), left, harness.exclusive ? undefined : claim.workerId);
    const newcomer = await world.open(9, { layout: '40,10,13' });
    await newcomer.acquire();
    expect(newcomer.waited).toBeGreaterThanOrEqual(10_001 + CLOCK_OFFSET_MS + world.grace);
  });

  const { replicate } = harness;
  if (replicate === undefined) return;

  it('keeps every holder after the promotion of a replica that lacks a worker and the newest reports', async () => {
    const first = await world.started(0);
    const promote = await replicate();
    await world.clock.advance(3000);
    const second = await world.started(1);
    await first.extend();
    await promote();
    const newcomer = await join([first, second]);
    expect(idsOf([first, second, newcomer]).size).toBe(3);
    for (const each of [first, second, newcomer]) expect(await each.extend()).toBe(true);
    const { document } = await newcomer.store.readRegistry();
    expect(document?.generation).toBe(2);
  });
}

function fixedRecords(world: WorkerWorld, { remove }: WorkerRegistryHarness): void {
  it('gives a restarted server its worker again, above the reserved time', async () => {
    const { claim } = await world.started(0);
    const again = await world.started(0);
    expect(again.claim.workerId).toBe(claim.workerId);
    expect(again.claim.floor).toBeGreaterThanOrEqual(claim.ceiling);
    expect(again.waited).toBeGreaterThan(0);
  });

  it('refuses a worker that the layout does not hold', async () => {
    const { claim } = await world.started(0);
    const next = await world.open(1, { maxWorkerId: claim.workerId });
    await expect(next.acquire()).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
  });

  it('refuses a newcomer with the ip:port of a running server', async () => {
    const first = await world.started(0);
    const newcomer = await world.open(0);
    newcomer.onWait = async () => {
      expect(await first.extend()).toBe(true);
    };
    await expect(newcomer.acquire()).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
    expect(await first.extend()).toBe(true);
  });

  if (remove === undefined) return;

  it('reuses the number of a removed record only above all IDs that its holder may have issued', async () => {
    const first = await world.started(0);
    await world.clock.advance(3000);
    await remove(first.claim.workerId);
    const removed = world.clock.now();
    const next = await world.started(1);
    expect(next.claim.workerId).toBe(first.claim.workerId);
    expect(next.claim.floor).toBeGreaterThanOrEqual(removed + world.leaseTtlMs + CLOCK_OFFSET_MS);
    await expect(first.extend()).rejects.toMatchObject(LOST);
  });
}

/** As many processes as the pool has workers race for them: each gets one, and the next process is refused. */
export async function raceForAll(world: WorkerWorld, racers: number): Promise<void> {
  const processes = await world.race(racers, { maxWorkerId: racers - 1 });
  expect([...idsOf(processes)].sort((a, b) => a - b)).toEqual(Array.from({ length: racers }, (_, n) => n));
  const late = await world.open(racers, { maxWorkerId: racers - 1 });
  await expect(late.acquire()).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
}

/** Servers with ranges of worker IDs, which differ and overlap. */
function ranges(world: WorkerWorld): void {
  const [low, high] = [{ workers: { first: 4, last: 7 } }, { workers: { first: 6, last: 9 } }];
  const usedUp = { code: 'LEAF_WORKERS_USED_UP' };

  it('gives each server a worker ID of its range, and refuses the next while others are free', async () => {
    const lows = await world.race(4, low);
    expect([...idsOf(lows)].sort()).toEqual([4, 5, 6, 7]);
    const highs = [await world.started(4, high), await world.started(5, high)];
    expect([...idsOf(highs)].sort()).toEqual([8, 9]);
    for (const full of [low, high]) await expect((await world.open(6, full)).acquire()).rejects.toMatchObject(usedUp);
    await lows.find(({ claim }) => claim.workerId === 4)!.claim.release(world.clock.now());
    await expect((await world.open(6, high)).acquire()).rejects.toMatchObject(usedUp);
    await world.clock.advance(1);
    expect((await world.started(6, low)).claim.workerId).toBe(4);
    for (const each of [...highs, ...lows.filter(({ claim }) => claim.workerId !== 4)]) {
      expect(await each.extend()).toBe(true);
    }
  });

  it('gives a server that restarts with another range a worker ID of that one', async () => {
    const before = await world.started(0, { workers: { first: 0, last: 3 } });
    await before.claim.release(world.clock.now());
    await world.clock.advance(1);
    expect((await world.started(0, high)).claim.workerId).toBeGreaterThan(5);
    expect(await before.recorded()).toBeDefined();
  });

  it('frees abandoned records of every range, keeps the others, and counts those of its own', async () => {
    const late = await world.started(0, { workers: { first: 0, last: 3 } });
    const live = await world.started(1, { workers: { first: 4, last: 4 } });
    const turn = await world.started(2, { workers: { first: 5, last: 7 } });
    await turn.registry.maintain();
    await live.registry.maintain();
    expect(turn.registry.usage).toEqual({ used: 1, most: 3, first: 5 });
    expect(live.registry.usage).toEqual({ used: 1, most: 1, first: 4 });
    await world.clock.advance(world.leaseTtlMs);
    for (const each of [live, turn]) await each.extend();
    await turn.registry.maintain();
    const free = (await turn.store.list()).filter(({ record }) => record.free).map(({ workerId }) => workerId);
    expect(free).toEqual([late.claim.workerId]);
    expect(await late.extend()).toBe(true);
    expect(await live.extend()).toBe(true);
  });
}

function pooledRecords(world: WorkerWorld): void {
  it('gives every one that races a worker, and refuses the next', () => raceForAll(world, RACERS));

  it('frees a record that has not changed for the lease TTL, and lets a late holder take it back', async () => {
    const [late, other] = [await world.started(0), await world.started(1)];
    await other.registry.maintain();
    await world.clock.advance(world.leaseTtlMs);
    await other.extend();
    await other.registry.maintain();
    const records = await other.store.list();
    const free = records.filter(({ record }) => record.free).map(({ workerId }) => workerId);
    expect(free).toEqual([late.claim.workerId]);
    expect(await late.extend()).toBe(true);
    expect(await other.extend()).toBe(true);
  });

  it('gives a freed record to a newcomer, and the late holder loses it', async () => {
    const [late, other] = [await world.started(0, { maxWorkerId: 1 }), await world.started(1, { maxWorkerId: 1 })];
    await other.registry.maintain();
    await world.clock.advance(world.leaseTtlMs + 1);
    await other.extend();
    await other.registry.maintain();
    const next = await world.started(2, { maxWorkerId: 1 });
    expect(next.claim.workerId).toBe(late.claim.workerId);
    expect(next.claim.floor).toBeGreaterThanOrEqual(late.claim.ceiling);
    await expectLost(late);
  });
}
