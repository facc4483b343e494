import type { CeilingProposal, LeaseHolder, WorkerClaim, WorkerRegistry } from '@leaf/core';

/** One process, as the contract sees it. */
export interface OpenedRegistry {
  /** A registry object of its own. */
  readonly registry: WorkerRegistry;
  /** The `ip:port` of the instance, with a lease ID never used before. */
  readonly holder: LeaseHolder;
  /** Ends it as the death of the process would: its connection or lock goes, its record stays. */
  close(): Promise<void>;
}

export interface WorkerRegistryHarness {
  /** Empties the storage; called before each test, when everything is closed. */
  reset(): Promise<void>;
  /**
   * Opens a registry object on the storage.
   *
   * @param instance which `ip:port`, from 0 to `instances` - 1
   */
  open(instance: number): Promise<OpenedRegistry>;
  /** How many `ip:port` can hold a worker at one time. */
  readonly instances: number;
  /**
   * What a second holder of one `ip:port` finds while the first lives: a refusal (`local`), the same worker ID, which
   * the first then has lost (`zk_normal`, `mysql`), or another one (`zk_recycle`).
   */
  readonly twin: 'refused' | 'takes-over' | 'gets-another';
  /**
   * Makes the next write of `registry` reject with `LEAF_REGISTRY_UNREACHABLE`, not applied (`before`) or applied
   * (`after`). Left out where there is no way to.
   */
  readonly failNextWrite?: (registry: WorkerRegistry, moment: 'before' | 'after') => void;
  /** Whether its worker IDs are a stock that can run out, and be counted. */
  readonly stock: boolean;
  /** Unix milliseconds around which ceilings are chosen, for registries that compare them with a clock. */
  readonly now?: number;
}

const HORIZON = 10_000;
const LOST = { code: 'LEAF_LEASE_LOST' };
const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };

/** What every `WorkerRegistry` must do, whatever it keeps its records in. */
export function workerRegistryContract(name: string, harness: WorkerRegistryHarness): void {
  describe(`${name} as a WorkerRegistry`, () => {
    const world = new Processes(harness);
    beforeEach(() => world.reset());
    afterEach(() => world.closeAll());

    acquiring(world, harness.instances);
    extending(world);
    releasing(world);
    counting(world, harness);
    // A pool may hand out another record next time: what holds for one record is for its own suite.
    if (harness.twin !== 'gets-another') keepingTheRecord(world);
    twins(world, harness.twin);
    if (harness.failNextWrite !== undefined) unknownOutcomes(world, harness.failNextWrite, harness.twin);
  });
}

/** The processes of one test. */
class Processes {
  readonly now: number;
  private opened: OpenedRegistry[] = [];

  constructor(private readonly harness: WorkerRegistryHarness) {
    this.now = harness.now ?? 1_700_000_000_000;
  }

  reset(): Promise<void> {
    return this.harness.reset();
  }

  async open(instance = 0): Promise<OpenedRegistry> {
    const opened = await this.harness.open(instance);
    this.opened.push(opened);
    return opened;
  }

  async acquired(ceiling = this.now): Promise<OpenedRegistry & { claim: WorkerClaim }> {
    const opened = await this.open();
    return { ...opened, claim: await acquire(opened, ceiling) };
  }

  /** Everybody dies without a release, and one comes back. */
  async acquiredAfterCrash(ceiling: number): Promise<WorkerClaim> {
    await this.closeAll();
    return acquire(await this.open(), ceiling);
  }

  async closeAll(): Promise<void> {
    for (const each of this.opened.splice(0)) await each.close();
  }
}

function acquiring(world: Processes, instances: number): void {
  const { now } = world;

  it('gives a new record with nothing before it', async () => {
    const { claim } = await world.acquired();
    expect(Number.isInteger(claim.workerId) && claim.workerId >= 0).toBe(true);
    expect(claim.previousCeiling).toBe(0);
    expectCeiling(claim, now);
  });

  it('shows the proposal what is recorded', async () => {
    const { registry, holder } = await world.open();
    const seen = new Set<number>();
    await registry.acquire(holder, (recorded) => {
      seen.add(recorded);
      return now;
    });
    expect([...seen]).toEqual([0]);
  });

  it('lets the error of a proposal through, and can be acquired after it', async () => {
    const opened = await world.open();
    const fault = new Error('clock behind');
    await expect(opened.registry.acquire(opened.holder, throwing(fault))).rejects.toBe(fault);
    expect(await acquire(opened, now)).toMatchObject({ previousCeiling: 0 });
  });

  it('gives every instance a worker ID of its own, all at once', async () => {
    const all = await Promise.all(Array.from({ length: instances }, (_, i) => world.open(i)));
    const claims = await Promise.all(all.map((each) => acquire(each, now)));
    expect(new Set(claims.map(({ workerId }) => workerId)).size).toBe(instances);
    for (const [i, { registry }] of all.entries()) {
      expectCeiling(await registry.extend(claims[i]!, now + HORIZON), now + HORIZON);
    }
  });
}

function extending(world: Processes): void {
  const { now } = world;

  it('extends again and again', async () => {
    const { registry, claim } = await world.acquired();
    let extended = claim;
    for (let i = 1; i <= 5; i++) {
      extended = await registry.extend(extended, now + i * HORIZON);
      expectCeiling(extended, now + i * HORIZON);
      expect(extended).toMatchObject({ workerId: claim.workerId, previousCeiling: claim.previousCeiling });
    }
  });

  it('extends with the claim from before an answer that got lost', async () => {
    const { registry, claim } = await world.acquired();
    await registry.extend(claim, now + HORIZON);
    const later = await registry.extend(claim, now + 2 * HORIZON);
    expectCeiling(later, now + 2 * HORIZON);
    expectCeiling(await registry.extend(later, now + 3 * HORIZON), now + 3 * HORIZON);
  });
}

function releasing(world: Processes): void {
  const { now } = world;

  it('releases with the claim from before an answer that got lost', async () => {
    const { registry, claim } = await world.acquired();
    await registry.extend(claim, now + HORIZON);
    await expect(registry.release(claim, now)).resolves.toBeUndefined();
  });

  it('has lost a claim that was released', async () => {
    const { registry, claim } = await world.acquired();
    await registry.release(claim, now);
    await expect(registry.extend(claim, now + HORIZON)).rejects.toMatchObject(LOST);
  });

  it('can be acquired again after a release, by the same object', async () => {
    const { registry, holder, claim } = await world.acquired();
    await registry.release(claim, now - 500);
    const again = { registry, holder: { ...holder, leaseId: `${holder.leaseId}-2` } };
    expectCeiling(await acquire(again, now), now);
  });
}

function counting(world: Processes, { instances, stock, twin }: WorkerRegistryHarness): void {
  if (!stock) {
    it('has no stock of worker IDs to count', async () => {
      const { registry } = await world.acquired();
      await expect(registry.usage()).resolves.toBeUndefined();
    });
    return;
  }

  it('counts the worker IDs that a new server could not be given', async () => {
    const { registry, claim } = await world.acquired();
    const first = await registry.usage();
    expect(first?.used).toBeGreaterThanOrEqual(1);
    expect(first?.most).toBeGreaterThanOrEqual(instances);
    for (let i = 1; i < instances; i++) await acquire(await world.open(i), world.now);
    const used = first!.used + instances - 1;
    await expect(registry.usage()).resolves.toEqual({ ...first, used });
    await registry.release(claim, world.now - 500);
    const given = twin === 'gets-another' ? used - 1 : used;
    await expect(registry.usage()).resolves.toEqual({ ...first, used: given });
  });
}

function keepingTheRecord(world: Processes): void {
  const { now } = world;

  it('keeps worker ID and ceiling over a restart', async () => {
    const { claim } = await world.acquired();
    const after = await world.acquiredAfterCrash(now + HORIZON);
    expect(after).toMatchObject({ workerId: claim.workerId, previousCeiling: claim.ceiling });
    expectCeiling(after, now + HORIZON);
  });

  it('keeps an extension over a restart', async () => {
    const { registry, claim } = await world.acquired();
    const { workerId, ceiling } = await registry.extend(claim, now + HORIZON);
    expect(await world.acquiredAfterCrash(now + 2 * HORIZON)).toMatchObject({ workerId, previousCeiling: ceiling });
  });

  it('writes nothing when the proposal throws', async () => {
    const { claim } = await world.acquired();
    await world.closeAll();
    const { registry, holder } = await world.open();
    const seen: number[] = [];
    const propose: CeilingProposal = (recorded) => {
      seen.push(recorded);
      throw new Error('clock behind');
    };
    await expect(registry.acquire(holder, propose)).rejects.toThrow('clock behind');
    expect(seen).toEqual([claim.ceiling]);
    const after = await world.acquiredAfterCrash(now + HORIZON);
    expect(after).toMatchObject({ workerId: claim.workerId, previousCeiling: claim.ceiling });
  });

  it('leaves the released ceiling for the next', async () => {
    const { registry, claim } = await world.acquired();
    await registry.release(await registry.extend(claim, now + HORIZON), now + 123);
    const { claim: after } = await world.acquired(now + HORIZON);
    expect(after).toMatchObject({ workerId: claim.workerId, previousCeiling: now + 123 });
  });
}

function twins(world: Processes, twin: WorkerRegistryHarness['twin']): void {
  switch (twin) {
    case 'refused':
      refusedTwins(world);
      break;
    case 'takes-over':
      fencedTwins(world);
      break;
    case 'gets-another':
      separateTwins(world);
      break;
  }
}

function refusedTwins(world: Processes): void {
  const { now } = world;

  it('refuses a second holder while the first lives', async () => {
    const first = await world.acquired();
    const second = await world.open();
    await expect(acquire(second, now)).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
    const { workerId, ceiling } = await first.registry.extend(first.claim, now + HORIZON);
    await first.close();
    expect(await acquire(second, now + 2 * HORIZON)).toMatchObject({ workerId, previousCeiling: ceiling });
  });

  it('gives one of many at once the worker', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => world.open()));
    const outcomes = await Promise.allSettled(all.map((each) => acquire(each, now)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
}

function fencedTwins(world: Processes): void {
  const { now } = world;

  it('lets a second holder take over, and the first has lost', async () => {
    const { registry, claim } = await world.acquired();
    const second = await world.acquired(now + HORIZON);
    expect(second.claim).toMatchObject({ workerId: claim.workerId, previousCeiling: claim.ceiling });
    await expect(registry.extend(claim, now + 2 * HORIZON)).rejects.toMatchObject(LOST);
    await expect(registry.release(claim, now - 500)).rejects.toMatchObject(LOST);
    const extended = await second.registry.extend(second.claim, now + 3 * HORIZON);
    const after = await world.acquiredAfterCrash(now + 4 * HORIZON);
    expect(after).toMatchObject({ workerId: claim.workerId, previousCeiling: extended.ceiling });
  });

  // The ceilings of the two are equal: only the lease ID or the version tells them apart.
  it('does not take the equal write of a twin for its own', async () => {
    const { registry, claim } = await world.acquired();
    await world.acquired(now + HORIZON);
    await expect(registry.extend(claim, now + HORIZON)).rejects.toMatchObject(LOST);
  });

  it('gives many at once windows that do not overlap, and one of them may go on', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => world.open()));
    const outcomes = await Promise.allSettled(
      all.map(async (each) => ({ registry: each.registry, claim: await acquire(each, now) })),
    );
    const held = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    held.sort((a, b) => a.claim.ceiling - b.claim.ceiling);
    let before = 0;
    for (const { claim } of held) {
      expect(claim.previousCeiling).toBeGreaterThanOrEqual(before);
      expect(claim.ceiling).toBeGreaterThan(claim.previousCeiling);
      before = claim.ceiling;
    }
    const extensions = held.map(({ registry, claim }) => registry.extend(claim, now + HORIZON));
    const extended = (await Promise.allSettled(extensions)).map(({ status }) => status);
    expect(extended).toEqual([...held.slice(1).map(() => 'rejected'), 'fulfilled']);
  });
}

function separateTwins(world: Processes): void {
  const { now } = world;

  it('gives a second holder of one ip:port another worker', async () => {
    const first = await world.acquired();
    const second = await world.acquired();
    expect(second.claim.workerId).not.toBe(first.claim.workerId);
    for (const { registry, claim } of [first, second]) {
      expectCeiling(await registry.extend(claim, now + HORIZON), now + HORIZON);
    }
  });
}

function unknownOutcomes(
  world: Processes,
  failNextWrite: NonNullable<WorkerRegistryHarness['failNextWrite']>,
  twin: WorkerRegistryHarness['twin'],
): void {
  const { now } = world;

  it.each(['before', 'after'] as const)('finds out about an extension cut off %s it was applied', async (moment) => {
    const { registry, claim } = await world.acquired();
    failNextWrite(registry, moment);
    await expect(registry.extend(claim, now + HORIZON)).rejects.toMatchObject(UNREACHABLE);
    const later = await registry.extend(claim, now + 2 * HORIZON);
    expectCeiling(later, now + 2 * HORIZON);
    expect(later).toMatchObject({ workerId: claim.workerId, previousCeiling: claim.previousCeiling });
  });

  if (twin === 'gets-another') return;

  it('starts above an acquisition whose answer was lost', async () => {
    const opened = await world.open();
    failNextWrite(opened.registry, 'after');
    await expect(acquire(opened, now)).rejects.toMatchObject(UNREACHABLE);
    const after = await world.acquiredAfterCrash(now + HORIZON);
    expect(after.previousCeiling).toBeGreaterThanOrEqual(now);
  });

  if (twin === 'refused') return;

  it('has lost when a twin wrote after an extension of unknown outcome', async () => {
    const { registry, claim } = await world.acquired();
    failNextWrite(registry, 'after');
    await expect(registry.extend(claim, now + HORIZON)).rejects.toMatchObject(UNREACHABLE);
    const second = await world.acquired(now + 2 * HORIZON);
    expect(second.claim.previousCeiling).toBeGreaterThanOrEqual(now + HORIZON);
    await expect(registry.extend(claim, now + 2 * HORIZON)).rejects.toMatchObject(LOST);
  });
}

function acquire({ registry, holder }: Omit<OpenedRegistry, 'close'>, ceiling: number): Promise<WorkerClaim> {
  return registry.acquire(holder, (recorded) => Math.max(ceiling, recorded + 1));
}

function throwing(fault: Error): CeilingProposal {
  return () => {
    throw fault;
  };
}

/** `zk_normal` tells acquisitions and extensions apart by odd and even ceilings, and may go one above what was asked. */
function expectCeiling({ ceiling }: WorkerClaim, asked: number): void {
  expect(ceiling).toBeGreaterThanOrEqual(asked);
  expect(ceiling).toBeLessThanOrEqual(asked + 1);
}
