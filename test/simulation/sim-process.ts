import {
  DEFAULT_SNOWFLAKE_OPTIONS,
  LeafError,
  reasonOf,
  SnowflakeGenerator,
  WorkerLease,
  type Instance,
  type IssueWindow,
} from '@leaf/core';
import { sinceStart, type Conditions } from './conditions';
import type { Issuer, Ledger } from './ledger';
import type { Caller } from './network';
import type { SimRegistry } from './registries/sim-registry';
import { ZkRecycleRegistry } from './registries/zk-recycle-registry';
import type { Note, Scheduler } from './scheduler';
import type { SeededRandom } from './seeded-random';
import type { SimClock } from './sim-clock';

/** What was done, over all processes of a simulation. */
export interface Tally {
  ids: number;
  floodIds: number;
  acquired: number;
  released: number;
  lost: number;
}

/** What the processes of one simulation share. */
export interface Surroundings {
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly conditions: Conditions;
  readonly ledger: Ledger;
  readonly tally: Tally;
  readonly note: Note | undefined;
  /** Puts a rule out of force, to see that it is missed. */
  readonly windowOf: (lease: WorkerLease) => IssueWindow;
}

export interface Place {
  readonly name: string;
  readonly instance: Instance;
  readonly clock: SimClock;
  readonly connect: (process: Caller) => SimRegistry;
  /** The process has ended, in whatever way. */
  readonly onEnd: () => void;
}

const BOOT_TRIES = 4;

/** One server from its start to its end: the real lease and the real generator, driven by timers and requests. */
export class SimProcess implements Caller, Issuer {
  alive = true;
  readonly clock: SimClock;
  leaseId = '';
  workerId = -1;
  private lease: WorkerLease | undefined;
  private ids: SnowflakeGenerator | undefined;
  private readonly registry: SimRegistry;
  /** Highest ID that was given. */
  private newest = -1n;
  /** Up to here, IDs above the newest carry the timestamp that the ledger has seen last. */
  private top = -1n;
  private waiting = 0;
  /** IDs given while an asynchronous call waits for its own. */
  private readonly meanwhile = new Set<bigint>();

  constructor(
    readonly name: string,
    private readonly place: Place,
    private readonly around: Surroundings,
  ) {
    this.clock = place.clock;
    this.clock.attach(this);
    this.registry = place.connect(this);
    this.after(0, 'boot', () => void this.refusable('boot', this.boot()));
  }

  get busyUntil(): number {
    return this.clock.busyUntil;
  }

  wake(): void {
    this.clock.refresh();
  }

  crash(): void {
    if (!this.alive) return;
    this.alive = false;
    this.place.onEnd();
  }

  /** A graceful stop: requests still come while it gives the worker ID back. */
  stop(): void {
    this.after(0, 'stop', () => void this.refusable('stop', this.giveBack()));
  }

  private async boot(): Promise<void> {
    for (let attempt = 1; this.lease === undefined; attempt++) {
      this.leaseId = `${this.name}.${attempt}`;
      try {
        this.lease = await this.acquire();
      } catch (error) {
        this.refused('acquire', error);
        const unreachable = error instanceof LeafError && error.code === 'LEAF_REGISTRY_UNREACHABLE';
        if (!unreachable || attempt === BOOT_TRIES) {
          this.crash();
          return;
        }
        await this.clock.sleep(this.around.conditions.reportMs);
      }
    }
    this.serve(this.lease);
  }

  private acquire(): Promise<WorkerLease> {
    const { conditions, tally } = this.around;
    const { horizonMs, layout } = conditions;
    return WorkerLease.acquire(
      this.registry,
      this.place.instance,
      this.leaseId,
      this.clock,
      { horizonMs, maxWorkerId: layout.maxWorkerId },
      {
        onLost: () => tally.lost++,
        onReportFailed: (error) => this.refused('report', error),
      },
    );
  }

  private serve(lease: WorkerLease): void {
    const { conditions, random, tally, windowOf } = this.around;
    tally.acquired++;
    this.workerId = lease.workerId;
    this.note(() => `holds worker ${lease.workerId} from ${sinceStart(lease.floor)} to ${sinceStart(lease.ceiling)}`);
    this.ids = new SnowflakeGenerator(
      conditions.layout,
      windowOf(lease),
      this.clock,
      (bound) => random.below(bound),
      DEFAULT_SNOWFLAKE_OPTIONS,
    );
    this.every(conditions.reportMs, 'report', () => this.report(lease));
    this.every(conditions.askEveryMs, 'ask', () => this.ask());
  }

  private report(lease: WorkerLease): void {
    void lease.report.run();
    const { conditions, random } = this.around;
    if (this.registry instanceof ZkRecycleRegistry && random.chance(0.3)) {
      void this.refusable('reclaim', this.registry.reclaim(this.clock.now(), conditions.reportMs));
    }
    // Most servers that have lost their worker are restarted; some go on being asked.
    if (lease.lost !== undefined && random.chance(0.5)) this.crash();
  }

  private async giveBack(): Promise<void> {
    if (this.lease === undefined || this.ids === undefined) return;
    if (await this.refusable('release', this.lease.release(this.ids.lastTimestamp))) this.around.tally.released++;
    this.crash();
  }

  private ask(): void {
    const { random, conditions, tally } = this.around;
    switch (random.below(4)) {
      case 0:
        this.drip(1 + random.below(4));
        break;
      case 1:
        void this.take(this.anyCount());
        break;
      default:
        for (let left = 1 + random.below(4); left > 0 && tally.floodIds < conditions.floodIds; left--) {
          tally.floodIds += this.flood(this.anyCount());
          this.clock.pause(random.fraction());
        }
        this.drip(2);
    }
    this.note(() => `clock ${sinceStart(this.clock.shown)}, newest ID ${sinceStart(this.ids?.lastTimestamp ?? 0)}`);
  }

  private drip(count: number): void {
    for (let i = 0; i < count && this.ids !== undefined; i++) {
      try {
        const id = i % 2 === 0 ? this.ids.next() : BigInt(this.ids.nextString());
        this.given(id);
        this.around.tally.ids++;
      } catch (error) {
        this.refused('next', error);
        return;
      }
    }
  }

  /** As many as can be had at this moment, up to `limit`; each ID is looked at. */
  private flood(limit: number): number {
    const { ids, around, waiting } = this;
    if (ids === undefined) return 0;
    this.top = -1n;
    let count = 0;
    for (let id = ids.tryNext(); id !== undefined; id = ids.tryNext()) {
      if (id > this.newest && id <= this.top && waiting === 0) this.newest = id;
      else this.given(id);
      if (++count === limit) break;
    }
    around.tally.ids += count;
    return count;
  }

  /** One, or the IDs of several milliseconds, or something between. */
  private anyCount(): number {
    const { random, conditions } = this.around;
    return Math.ceil(random.spread(0.5, 4 * conditions.layout.maxSequence));
  }

  private async take(count: number): Promise<void> {
    if (this.ids === undefined) return;
    const after = this.newest;
    this.waiting++;
    await this.refusable(
      'take',
      this.ids.take(count).then((list) => this.alive && this.taken(list, after)),
    );
    if (--this.waiting === 0) this.meanwhile.clear();
  }

  /** An ID that was claimed just now. */
  private given(id: bigint): void {
    const { ledger } = this.around;
    if (id <= this.newest) ledger.breach('order', `${this.name}: ${id} follows ${this.newest}`);
    if (this.waiting > 0) this.meanwhile.add(id);
    this.newest = id;
    this.openTo(id);
  }

  /** IDs that were claimed after `after`, between those of other calls. */
  private taken(list: readonly bigint[], after: bigint): void {
    const { ledger, tally } = this.around;
    let before = after;
    this.top = -1n;
    for (const id of list) {
      if (id <= before) ledger.breach('order', `${this.name}: ${id} follows ${before}`);
      if (this.meanwhile.has(id)) ledger.breach('pair', `${this.name}: ${id} was given twice`);
      this.meanwhile.add(id);
      if (before === after || id > this.top) this.openTo(id);
      before = id;
    }
    if (before > this.newest) this.newest = before;
    this.top = -1n;
    tally.ids += list.length;
  }

  private openTo(id: bigint): void {
    const { ledger } = this.around;
    ledger.opened(this, id);
    this.top = id | BigInt(ledger.layout.maxSequence);
  }

  private async refusable(what: string, work: Promise<unknown>): Promise<boolean> {
    try {
      await work;
      return true;
    } catch (error) {
      this.refused(what, error);
      return false;
    }
  }

  /** A refusal is an answer, too; any other error is a fault, of the code under test or of the simulation. */
  private refused(what: string, error: unknown): void {
    if (error instanceof LeafError) this.note(() => `${what}: ${error.code}`);
    else this.around.ledger.breach('error', `${this.name}: ${what}: ${reasonOf(error)}`);
  }

  private every(ms: number, label: string, action: () => void): void {
    this.after(ms * (0.5 + this.around.random.fraction()), label, () => {
      this.every(ms, label, action);
      action();
    });
  }

  private after(ms: number, label: string, action: () => void): void {
    const { grainMs } = this.around.conditions;
    const due = this.clock.local + ms;
    this.around.scheduler.at(grainMs > 0 ? Math.ceil(due / grainMs) * grainMs : due, label, action, this);
  }

  private note(text: () => string): void {
    this.around.note?.(() => `${this.name}: ${text()}`);
  }
}
