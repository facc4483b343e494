import { WorkerRegistry, type WorkerStore } from '@leaf-ids/core';
import { LeaseHolder, type WorkerClaim, type WorkerRegistryOptions } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { FixedPolicy } from '../../../libs/registry/src/policies/fixed-policy';
import { PoolPolicy } from '../../../libs/registry/src/policies/pool-policy';

const REPORT_MS = 3000;
/** Stores that racers share: databases have few connections. */
const SHARED = 4;
/** Assumed offset between uncompared clocks, because databases use the real clock and tests a manual one. */
export const CLOCK_OFFSET_MS = 5000;
let leases = 0;
let numbers = 1;

export interface WorkerRegistryHarness {
  /** With the fixed policy: a record belongs to one `ip:port`. Otherwise, with the pool policy. */
  readonly exclusive: boolean;
  /** Empties the storage: records, numbering and document. */
  reset(): Promise<void>;
  /** A new store object on the storage. */
  store(): Promise<WorkerStore>;
  /** Removes one record, so that the store may assign its number again; undefined for stores that never do. */
  readonly remove?: (workerId: number) => Promise<void>;
  /** Copies the current data to a replica; the result promotes it. Undefined where a replica is too expensive. */
  readonly replicate?: () => Promise<() => Promise<void>>;
}

/** One process with its own registry object, on the shared clock. */
export class WorkerProcess {
  /** Whether it uses the fixed policy. */
  readonly exclusive: boolean;
  readonly registry: WorkerRegistry;
  readonly holder: LeaseHolder;
  claim!: WorkerClaim;
  /** How long it has waited by the shared clock, in milliseconds. */
  waited = 0;
  /** Runs during the wait, before the clock advances. */
  onWait: () => Promise<void> = () => Promise.resolve();

  constructor(
    readonly store: WorkerStore,
    readonly clock: FakeClock,
    { exclusive, port }: { readonly exclusive: boolean; readonly port: number },
    overrides: Partial<WorkerRegistryOptions>,
  ) {
    this.exclusive = exclusive;
    const leaseTtlMs = leaseTtlOf(exclusive);
    const options = { name: 'test', leaseTtlMs, reportMs: REPORT_MS, maxClockOffsetMs: 0, layout: '41,10,12' };
    const policy = exclusive ? new FixedPolicy() : new PoolPolicy();
    const random = (below: number): number => (numbers = (numbers * 48_271) % 2_147_483_647) % below;
    this.registry = new WorkerRegistry(
      { store, policy, clock, random, newId: () => `registry-${++leases}` },
      { ...options, maxWorkerId: 1023, remembers: false, ...overrides },
    );
    this.holder = new LeaseHolder({ ip: '10.0.0.7', port }, `lease${++leases}`, () => -1);
  }

  async acquire(): Promise<WorkerClaim> {
    this.claim = await this.registry.acquire(this.holder, async (ms) => {
      await this.onWait();
      this.waited += ms;
      await this.clock.advance(ms);
    });
    return this.claim;
  }

  /** Reports at the current time. */
  extend(): Promise<boolean> {
    return this.claim.extend(this.clock.now() + this.registry.options.leaseTtlMs);
  }

  /** The ceiling in its record; undefined if the record is gone. */
  async recorded(): Promise<number | undefined> {
    return (await this.store.read(this.claim.workerId, this.holder.instance))?.record.ceiling;
  }
}

/** The processes of one test, on one clock. */
export class WorkerWorld {
  clock = new FakeClock();
  readonly leaseTtlMs: number;
  readonly grace: number;
  private stores: WorkerStore[] = [];

  constructor(private readonly harness: WorkerRegistryHarness) {
    this.leaseTtlMs = leaseTtlOf(harness.exclusive);
    this.grace = graceOf(harness.exclusive);
  }

  reset(): Promise<void> {
    this.clock = new FakeClock();
    return this.harness.reset();
  }

  /** A process without a worker ID. */
  async open(
    instance: number,
    overrides: Partial<WorkerRegistryOptions> = {},
    store?: WorkerStore,
  ): Promise<WorkerProcess> {
    const { exclusive } = this.harness;
    return new WorkerProcess(
      store ?? (await this.store()),
      this.clock,
      { exclusive, port: 8080 + instance },
      overrides,
    );
  }

  async started(instance: number, overrides: Partial<WorkerRegistryOptions> = {}): Promise<WorkerProcess> {
    const process = await this.open(instance, overrides);
    await process.acquire();
    return process;
  }

  async store(): Promise<WorkerStore> {
    const store = await this.harness.store();
    this.stores.push(store);
    return store;
  }

  async closeAll(): Promise<void> {
    for (const store of this.stores.splice(0)) await store.close();
  }

  /** Starts this number of processes at once, each with its own instance. */
  async race(count: number, overrides: Partial<WorkerRegistryOptions> = {}): Promise<WorkerProcess[]> {
    const stores = await Promise.all(Array.from({ length: SHARED }, () => this.store()));
    const processes = await Promise.all(
      Array.from({ length: count }, (_, n) => this.open(n, overrides, stores[n % SHARED])),
    );
    await Promise.all(processes.map((each) => each.acquire()));
    return processes;
  }
}

function leaseTtlOf(exclusive: boolean): number {
  return exclusive ? 10_000 : 3_600_000;
}

/** How long newcomers wait in a new registry, in milliseconds. */
function graceOf(exclusive: boolean): number {
  return (exclusive ? leaseTtlOf(true) : 3 * REPORT_MS) + CLOCK_OFFSET_MS;
}
