import { setImmediate } from 'node:timers/promises';
import {
  FakeClock,
  idsOf,
  LeafError,
  SnowflakeGenerator,
  WorkerLease,
  type BitLayout,
  type LeafErrorCode,
  type RandomSource,
} from '@leaf/core';
import { InMemoryWorkerRegistry, InMemoryWorkerStorage, type Fault } from './in-memory-worker-registry';

/** What can happen in a {@link SnowflakeWorld}. A slot is a place for one process; 0 and 1 share an `ip:port`. */
export type WorldEvent =
  | { readonly kind: 'step' | 'advance'; readonly ms: number }
  | { readonly kind: 'start' | 'crash'; readonly slot: number }
  | { readonly kind: 'stop' | 'report'; readonly slot: number }
  | { readonly kind: 'fail'; readonly slot: number; readonly fault: Fault }
  | { readonly kind: 'deliver' }
  | { readonly kind: 'ask'; readonly slot: number; readonly how: Asking; readonly count: number }
  | {
      readonly kind: 'take';
      readonly slot: number;
      readonly how: 'take' | 'takeStrings';
      readonly count: number;
      /** Happen one after the other, a millisecond apart, while the call waits. */
      readonly meanwhile: readonly WorldEvent[];
    };

type Of<Kind extends WorldEvent['kind']> = Extract<WorldEvent, { readonly kind: Kind }>;
type ProcessEvent = Of<'stop' | 'report'> | Of<'fail'> | Of<'ask'> | Of<'take'>;

export type Asking = 'tryNext' | 'tryNextString' | 'tryRange' | 'next' | 'nextString';

export const SLOTS = 3;
/** Of a range that is asked for without waiting. */
const RANGE_SIZE = 3;

export interface WorldOptions {
  readonly layout: BitLayout;
  readonly horizonMs: number;
  readonly maxBackwardsMs: number;
  readonly waitMs: number;
  readonly seed: number;
}

interface Process {
  readonly instance: string;
  readonly leaseId: string;
  readonly registry: InMemoryWorkerRegistry;
  readonly lease: WorkerLease;
  readonly ids: SnowflakeGenerator;
  /** Newest ID that a finished call gave. */
  newest: bigint;
}

const REFUSALS: ReadonlySet<LeafErrorCode> = new Set<LeafErrorCode>([
  'LEAF_NOT_READY',
  'LEAF_OVERLOADED',
  'LEAF_CLOCK_BACKWARDS',
  'LEAF_LEASE_EXPIRED',
  'LEAF_LEASE_LOST',
  'LEAF_EPOCH_EXHAUSTED',
]);

/**
 * Processes that issue snowflake IDs from one registry and one clock. It throws at the first ID that breaks a promise:
 * issued before, not ascending, above the recorded ceiling, or not above the ceiling before the acquisition.
 */
export class SnowflakeWorld {
  readonly clock: FakeClock;
  readonly storage = new InMemoryWorkerStorage();
  readonly issued = new Set<bigint>();
  readonly refusals = new Set<LeafErrorCode>();
  private readonly processes: (Process | undefined)[] = [];
  private leases = 0;

  constructor(
    start: number,
    private readonly options: WorldOptions,
  ) {
    this.clock = new FakeClock(start);
  }

  async run(events: readonly WorldEvent[]): Promise<void> {
    for (const event of events) await this.apply(event);
  }

  /** With writes arriving and the clock past everything, whoever still holds a lease must issue again. */
  async recover(): Promise<void> {
    this.storage.deliver();
    // Reports under way may be bound to fail.
    await this.clock.advance(0);
    for (const found of this.processes) {
      if (found === undefined) continue;
      const { registry, lease, ids } = found;
      registry.failNextWrite(undefined);
      const behind = Math.max(lease.floor, ids.lastTimestamp) + 1 - this.clock.now();
      this.clock.step(Math.max(0, behind));
      await lease.report.run();
      if (lease.lost !== undefined) continue;
      this.record(found, [ids.next()], found.newest);
    }
  }

  private async apply(event: WorldEvent): Promise<void> {
    switch (event.kind) {
      case 'step':
        this.clock.step(event.ms);
        break;
      case 'advance':
        await this.clock.advance(event.ms);
        break;
      case 'deliver':
        this.storage.deliver();
        break;
      case 'start':
        await this.start(event.slot);
        break;
      case 'crash':
        this.processes[event.slot] = undefined;
        break;
      case 'stop':
      case 'report':
      case 'fail':
      case 'ask':
      case 'take':
        await this.use(this.processes[event.slot], event);
        break;
    }
  }

  private async use(found: Process | undefined, event: ProcessEvent): Promise<void> {
    if (found === undefined) return;
    switch (event.kind) {
      case 'stop':
        this.processes[event.slot] = undefined;
        await this.refusable(() => found.lease.release(found.ids.lastTimestamp), ['LEAF_REGISTRY_UNREACHABLE']);
        break;
      case 'report':
        await found.lease.report.run();
        break;
      case 'fail':
        found.registry.failNextWrite(event.fault);
        break;
      case 'ask':
        for (let i = 0; i < event.count; i++) await this.ask(found, event.how);
        break;
      case 'take':
        await this.take(found, event);
        break;
    }
  }

  private async start(slot: number): Promise<void> {
    const { layout, horizonMs, seed, ...limits } = this.options;
    const { clock } = this;
    const leaseId = `lease-${++this.leases}`;
    const instance = { ip: '10.0.0.7', port: 8080 + (slot >> 1) };
    const registry = new InMemoryWorkerRegistry(this.storage);
    this.processes[slot] = undefined;
    await this.refusable(async () => {
      const lease = await WorkerLease.acquire(
        registry,
        instance,
        leaseId,
        clock,
        { horizonMs, maxWorkerId: layout.maxWorkerId },
        { onLost: () => undefined, onReportFailed: () => undefined },
      );
      const ids = new SnowflakeGenerator(layout, lease, clock, randomFrom(seed + this.leases), limits);
      this.processes[slot] = { instance: `10.0.0.7:${instance.port}`, leaseId, registry, lease, ids, newest: -1n };
    }, ['LEAF_CLOCK_BEHIND']);
  }

  private ask(found: Process, how: Asking): Promise<void> {
    return this.refusable(() => {
      const given = found.ids[how](RANGE_SIZE);
      if (typeof given === 'object') this.record(found, idsOf([given]), found.newest);
      else if (given !== undefined) this.record(found, [given], found.newest);
      return Promise.resolve();
    });
  }

  private async take(found: Process, { how, count, meanwhile }: Of<'take'>): Promise<void> {
    const { newest } = found;
    const state = { settled: false };
    const answer = this.refusable(async () => {
      const ids = await found.ids[how](count);
      if (ids.length !== count) throw new Error(`${ids.length} IDs instead of ${count}`);
      this.record(found, ids, newest);
    }).finally(() => (state.settled = true));
    // Handled below, but not before the clock has moved.
    answer.catch(() => undefined);
    await setImmediate();
    // The longest wait: the limit, and a clock step absorbed at its very end.
    const limit = this.clock.monotonic() + this.options.waitMs + 2 * this.options.maxBackwardsMs + 1;
    const events = meanwhile.values();
    while (!state.settled) {
      if (this.clock.monotonic() > limit) throw new Error(`${how}(${count}) waits for ever`);
      const event = events.next();
      if (event.done !== true) await this.apply(event.value);
      await this.clock.advance(1);
    }
    await answer;
  }

  private record(found: Process, ids: readonly (bigint | string)[], after: bigint): void {
    const { layout } = this.options;
    const { ceiling, workerId } = this.storage.recordOf(found.instance);
    const floor = this.storage.writes.find(({ record }) => record.leaseId === found.leaseId)?.previousCeiling;
    let before = after;
    for (const id of ids.map(BigInt)) {
      const parts = layout.decompose(id);
      const fault = (what: string): Error => new Error(`${id} of ${found.leaseId} at ${parts.timestamp}: ${what}`);
      if (this.issued.has(id)) throw fault('issued before');
      if (id <= before) throw fault(`not above ${before}`);
      if (parts.workerId !== workerId) throw fault(`not of worker ${workerId}`);
      if (parts.timestamp > ceiling) throw fault(`above the recorded ceiling ${ceiling}`);
      if (floor === undefined || parts.timestamp <= floor) throw fault(`not above the floor ${floor ?? 'unknown'}`);
      this.issued.add(id);
      before = id;
    }
    if (before > found.newest) found.newest = before;
  }

  /** A refusal is an answer too; every other error is not. */
  private async refusable(action: () => Promise<void>, also: readonly LeafErrorCode[] = []): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof LeafError) || !(REFUSALS.has(error.code) || also.includes(error.code))) throw error;
      this.refusals.add(error.code);
    }
  }
}

/** Park and Miller (1988): the same numbers for the same seed. */
function randomFrom(seed: number): RandomSource {
  let state = (seed % 2_147_483_646) + 1;
  return (bound) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % bound;
  };
}
