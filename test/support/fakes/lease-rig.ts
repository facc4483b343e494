import { setImmediate } from 'node:timers/promises';
import { type Instance, LeafError, WorkerRegistry, type WorkerStore } from '@leaf-ids/core';
import {
  defaultLayout,
  SnowflakeGenerator,
  type Term,
  WorkerLease,
  type WorkerPolicy,
  type WorkerFile,
  type WorkerRegistryOptions,
} from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { FixedPolicy } from '../../../libs/registry/src/policies/fixed-policy';
import { PoolPolicy } from '../../../libs/registry/src/policies/pool-policy';
import { SeededRandom } from '../seeded-random';

export const REPORT_MS = 3000;
export const FIXED_GRACE_MS = 15_000;
export const POOL_GRACE_MS = 14_000;
const LEASE_TTLS = { fixed: 10_000, pool: 3_600_000 };

export interface LeaseRigOptions extends Partial<WorkerRegistryOptions> {
  readonly policy?: 'fixed' | 'pool' | WorkerPolicy;
  readonly instance?: Partial<Instance>;
  readonly file?: WorkerFile;
}

/** Iterations of the event loop in which only the clock is pending. */
const IDLE_TURNS = 20;

let servers = 0;

/** One server: the real registry, lease and generator on a store, with a manual clock. */
export class LeaseRig {
  readonly registry: WorkerRegistry;
  readonly lease: WorkerLease;
  readonly ids: SnowflakeGenerator;
  readonly waits: LeafError[] = [];
  readonly terms: Term[] = [];
  readonly failures: unknown[] = [];
  readonly registeredAgain: number[] = [];
  readonly historiesLost: number[] = [];
  readonly losses: LeafError[] = [];

  constructor(
    readonly clock: FakeClock,
    store: WorkerStore,
    { policy = 'fixed', instance, file, ...options }: LeaseRigOptions = {},
  ) {
    const number = ++servers;
    const random = new SeededRandom(number);
    const name = typeof policy === 'string' ? policy : policy.exclusive ? 'fixed' : 'pool';
    const known = { fixed: new FixedPolicy(), pool: new PoolPolicy() };
    this.registry = new WorkerRegistry(
      {
        ...{ store, clock, random: (bound) => random.below(bound), newId: () => `registry-${++servers}` },
        policy: typeof policy === 'string' ? known[policy] : policy,
        ...(file && { file }),
      },
      {
        ...{ name, leaseTtlMs: LEASE_TTLS[name], reportMs: REPORT_MS, maxClockOffsetMs: 5000 },
        ...{ layout: defaultLayout().fingerprint, maxWorkerId: 1023, remembers: false, ...options },
      },
    );
    this.lease = new WorkerLease(
      this.registry,
      { ip: '10.0.0.7', port: 8080, ...instance },
      `lease-${number}`,
      () => this.ids.lastTimestamp,
      clock,
      {
        onWaiting: (reason) => this.waits.push(reason),
        onAcquired: (term) => this.terms.push(term),
        onAcquireFailed: (error) => this.failures.push(error),
        onReportFailed: (error) => this.failures.push(error),
        onRegisteredAgain: (workerId) => this.registeredAgain.push(workerId),
        onHistoryLost: (workerId) => this.historiesLost.push(workerId),
        onLost: (error) => this.losses.push(error),
      },
    );
    this.ids = new SnowflakeGenerator(defaultLayout(), this.lease, clock, () => 0, {
      maxBackwardsMs: 5,
      waitMs: 1000,
      sequenceStart: 100,
    });
  }

  get workerId(): number | undefined {
    return this.lease.term?.workerId;
  }

  /** Acquires a worker ID and advances the clock until that completes. */
  async start(): Promise<this> {
    await inTime(this.clock, this.lease.acquire());
    return this;
  }

  report(): Promise<void> {
    return this.lease.report.run();
  }
}

/** Advances the clock only when nothing but the clock is pending, because real files and sockets take time. */
export async function inTime<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  const state = { settled: false };
  const done = (): void => void (state.settled = true);
  promise.then(done, done);
  for (let idle = 0; !state.settled;) {
    await setImmediate();
    idle = clock.sleeping > 0 ? idle + 1 : 0;
    if (idle > IDLE_TURNS) await clock.advance(100);
  }
  return promise;
}

/** Advances the clock by `ms` milliseconds; each server reports when a report is due. */
export async function pass(servers: readonly LeaseRig[], clock: FakeClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= REPORT_MS) {
    await clock.advance(Math.min(left, REPORT_MS));
    await Promise.all(servers.map((server) => server.report()));
  }
}

/** Requests one ID of each of two servers per millisecond for `ms` milliseconds; returns the IDs that both issued. */
export async function givenTwice(servers: readonly LeaseRig[], clock: FakeClock, ms: number): Promise<bigint[]> {
  const seen = new Set<bigint>();
  const twice: bigint[] = [];
  for (let t = 0; t < ms; t++) {
    for (const [index, server] of servers.entries()) {
      if (t % REPORT_MS === (index * REPORT_MS) / servers.length) await server.report();
      const id = server.ids.tryNext();
      if (id === undefined) continue;
      if (seen.has(id)) twice.push(id);
      seen.add(id);
    }
    await clock.advance(1);
  }
  return twice;
}
