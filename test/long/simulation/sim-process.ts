import {
  type BitLayout,
  formatInstance,
  type Instance,
  LeafError,
  type TimeSource,
  WorkerRegistry,
  type WorkerStore,
} from '@leaf-ids/core';
import {
  DEFAULT_SNOWFLAKE_OPTIONS,
  type FileRecord,
  LoggedLayout,
  LoggedWorkerFile,
  LoggedWorkerStore,
  reasonOf,
  SnowflakeGenerator,
  type Term,
  WorkerLease,
  WorkerWindows,
  type WorkerLeaseSnapshot,
  type WorkerRegistryOptions,
} from '@leaf-ids/core/internal';
import { FixedPolicy } from '../../../libs/registry/src/policies/fixed-policy';
import { PoolPolicy } from '../../../libs/registry/src/policies/pool-policy';
import { type Conditions, type Settings, sinceStart } from './conditions';
import { expose, type Exposure, type Fork, type Issuer, type Loss, NOT_EXPOSED } from './issuer';
import type { Ledger } from './ledger';
import { copyMemory } from './memory-copy';
import type { Caller, Line } from './network';
import type { Note, Scheduler } from './scheduler';
import { SeededRandom } from '../../support/seeded-random';
import type { SimClock } from './sim-clock';
import { type Directory, type Disk, SimFile } from './sim-disk';
import type { StepLogs } from './step-logs';
import type { Tally } from './tally';

/** Where one server runs, and those that take its place. */
export interface Place {
  readonly name: string;
  readonly host: number;
  readonly instance: Instance;
  readonly layout: BitLayout;
  readonly settings: Settings;
  readonly clock: SimClock;
  readonly line: Line;
  readonly disk: Disk;
  /** A fault has copied, restored or removed its directory, or copied its process. */
  tampered: boolean;
}

/** What the processes of one simulation share. */
export interface Surroundings {
  readonly scheduler: Scheduler;
  readonly conditions: Conditions;
  readonly ledger: Ledger;
  readonly tally: Tally;
  readonly note: Note | undefined;
  readonly stepLogs: StepLogs | undefined;
  storeOf(process: SimProcess): WorkerStore;
  /** True milliseconds at which the registry lost its history last. */
  readonly lossAt: number | undefined;
  timeSources(): TimeSource[];
  /** The loss after which something kept the place of a process from registering again in the whole grace. */
  missedLoss(process: SimProcess): Loss | undefined;
  /** The process has ended, by a stop or a crash. */
  ended(process: SimProcess): void;
  /** The process was asked for IDs, and issued or refused them. */
  asked(process: SimProcess, refusal: LeafError | undefined): void;
}

/** A process to copy, and the moment of the copy. */
export interface Origin {
  readonly process: SimProcess;
  readonly fork: Fork;
}

/** One server from its start to its end: the shipped registry, lease and generator, driven by timers and requests. */
export class SimProcess implements Caller {
  alive = true;
  readonly clock: SimClock;
  readonly line: Line;
  readonly random: SeededRandom;
  readonly registry: WorkerRegistry;
  readonly windows: WorkerWindows;
  /** Of the current term; undefined before the first. */
  issuer: Issuer | undefined;
  lost: LeafError | undefined;
  /** Why the process ended by itself. */
  refused: LeafError | undefined;
  readonly startedAt: number;
  readonly leaseId: string;
  /** Requests to the registry and to the disk that have no answer yet. */
  pending = 0;
  private readonly directory: Directory;
  private readonly file: SimFile;
  private readonly lease: WorkerLease;
  private readonly ids: SnowflakeGenerator;
  /** Unix milliseconds of the newest IDs that a failed call has claimed and not given; 0 for none. */
  discarded = 0;
  private newest = -1n;
  private busy = false;
  private acquiredOnce = false;

  constructor(
    readonly name: string,
    seed: number,
    readonly place: Place,
    private readonly around: Surroundings,
    origin?: Origin,
  ) {
    const { clock, line, instance, layout, settings } = place;
    const { conditions, scheduler } = around;
    this.leaseId = origin?.process.leaseId ?? name;
    this.directory = place.disk.directory;
    this.clock = clock;
    this.line = line;
    this.random = new SeededRandom(seed);
    this.startedAt = scheduler.now;
    clock.attach(this);
    const random = (bound: number): number => this.random.below(bound);
    const pool = conditions.strategy === 'pool';
    this.file = new SimFile(place.disk, this, scheduler, (record) => this.filed(record));
    const log = around.stepLogs?.of(name, clock);
    const store = around.storeOf(this);
    const file = log ? new LoggedWorkerFile(this.file, log) : this.file;
    this.registry = new WorkerRegistry(
      {
        ...{
          store: log ? new LoggedWorkerStore(store, log, pool) : store,
          policy: pool ? new PoolPolicy() : new FixedPolicy(),
          clock,
          random,
        },
        ...(conditions.strategy === 'fixed with file' ? { file } : {}),
        newId: () => `registry-${this.random.bits()}`,
      },
      {
        name: conditions.strategy,
        ...settings,
        limits: conditions.limits,
        layout: `${layout.timeBits}/${layout.workerBits}/${layout.sequenceBits}`,
        ...(pool ? workersOf(conditions, instance) : { maxWorkerId: layout.maxWorkerId }),
        remembers: conditions.strategy === 'local',
      },
    );
    this.windows = new WorkerWindows(this.registry, instance, clock, conditions.mostWindows);
    this.lease = new WorkerLease(this.registry, instance, this.leaseId, () => this.ids.lastTimestamp, clock, {
      onWaiting: (reason) => this.note(() => `waits: ${reason.message.slice(-90)}`),
      onAcquired: (term) => this.acquired(term),
      onReportFailed: (error) => this.failed('report', error),
      onAcquireFailed: (error) => {
        this.failed('acquire', error);
        if (error instanceof LeafError && error.code === 'LEAF_WORKER_HELD' && this.issuer === undefined)
          this.end(error);
      },
      onRegisteredAgain: () => undefined,
      onHistoryLost: (workerId) => {
        around.tally.reacquired++;
        this.note(() => `lost worker ${workerId} with the history`);
      },
      onLost: (error) => this.leaseLost(error),
    });
    const generated = log ? new LoggedLayout(layout, log) : layout;
    this.ids = new SnowflakeGenerator(generated, this.lease, clock, random, DEFAULT_SNOWFLAKE_OPTIONS);
    if (origin === undefined) scheduler.at(scheduler.now, 'boot', () => this.boot(), this);
    else this.remember(origin);
  }

  get busyUntil(): number {
    return this.clock.busyUntil;
  }

  get snapshot(): WorkerLeaseSnapshot {
    return this.lease.snapshot();
  }

  /** Whether its memory can be copied: nothing is under way. It may hold no worker yet. */
  get isIdle(): boolean {
    const { issuer, lost, busy, pending } = this;
    const { workerId, report } = this.lease.snapshot();
    return issuer?.workerId === workerId && lost === undefined && !busy && pending === 0 && !report.running;
  }

  /** Until the registry has confirmed its worker, `change` excuses its IDs. */
  expose(change: Partial<Exposure>): void {
    if (this.issuer !== undefined) expose(this.issuer, change);
  }

  /** A copy goes on, wherever its origin was. */
  resume(): void {
    const { scheduler } = this.around;
    this.clock.attach(this);
    scheduler.at(scheduler.now, 'resume', () => this.work(), this);
  }

  wake(): void {
    this.clock.refresh();
  }

  crash(): void {
    if (!this.alive) return;
    this.alive = false;
    this.around.ended(this);
  }

  /** A graceful stop. */
  stop(): void {
    const give = async (): Promise<void> => {
      await this.lease.release().catch((error: unknown) => this.failed('release', error));
      await this.registry.close();
      this.around.tally.released++;
      this.crash();
    };
    this.around.scheduler.at(this.around.scheduler.now, 'stop', () => void give(), this);
  }

  private boot(): void {
    void this.lease.acquire().catch((error: unknown) => {
      this.failed('start', error);
      // A server ends on faults that an operator has to correct, and often on others.
      if (error instanceof LeafError && error.code === 'LEAF_REGISTRY_UNREACHABLE' && this.random.chance(0.5)) return;
      this.end(error);
    });
    this.work();
  }

  private work(): void {
    this.every(this.place.settings.reportMs, 'report', () => this.report());
    this.askNext();
  }

  private remember({ process, fork }: Origin): void {
    const { lease, ids, registry, windows } = this;
    copyMemory([
      [process.registry, registry],
      [process.windows, windows],
      [process.lease, lease],
      [process.ids, ids],
    ]);
    this.newest = process.newest;
    this.discarded = process.discarded;
    this.acquiredOnce = true;
    if (this.around.conditions.strategy === 'fixed with file') this.file.adopt();
    const { issuer } = process;
    if (issuer === undefined) return;
    const { name, place, directory } = this;
    const continues = { issuer, timestamp: issuer.newest };
    this.issuer = { ...issuer, name, host: place.host, directory, continues };
    this.around.ledger.copied(process.name, name, issuer.workerId);
    this.expose({ fork });
  }

  private async reportLease(): Promise<void> {
    const before = this.clock.monotonic();
    const { lossAt } = this.around;
    await this.lease.report.run();
    const { sinceRecordedMs, degradedReason } = this.lease.snapshot();
    const isConfirmed = degradedReason === undefined && this.clock.monotonic() - sinceRecordedMs >= before;
    // A write before the loss confirms nothing.
    if (isConfirmed && lossAt === this.around.lossAt) this.expose({ fork: undefined, missed: undefined });
  }

  private report(): void {
    void this.reportLease();
    if (this.around.conditions.clients > 0) {
      void this.windows.keep().catch((error: unknown) => this.failed('keep', error));
    }
    void this.registry.maintain(this.place.settings.reportMs).catch((error: unknown) => this.failed('maintain', error));
    // Most servers that have lost their worker are restarted; the others are still asked for IDs.
    if (this.lost !== undefined && this.random.chance(0.3)) this.crash();
  }

  private acquired({ workerId, floor }: Term): void {
    const { place, around } = this;
    if (this.acquiredOnce) this.note(() => 'acquired another');
    this.acquiredOnce = true;
    around.tally.acquired++;
    this.note(() => `holds worker ${workerId} from ${sinceStart(floor)} to ${sinceStart(this.lease.ceiling)}`);
    this.issuer = {
      ...{ kind: 'server', name: this.name, host: place.host, instance: formatInstance(place.instance) },
      ...{ leaseId: this.leaseId, workerId, floor, acquiredAt: around.scheduler.now, newest: 0 },
      ...{ directory: this.directory, exposure: { ...NOT_EXPOSED, ...this.byDisk() } },
    };
  }

  /** What excuses its next IDs if only its disk allows them. */
  private byDisk(): Pick<Exposure, 'byDisk'> & Partial<Exposure> {
    if (!this.goesByDisk()) return { byDisk: undefined };
    const missed = this.around.missedLoss(this);
    return { byDisk: this.directory, ...(missed && { missed }) };
  }

  private goesByDisk(): boolean {
    return this.around.conditions.strategy === 'local' || this.lease.snapshot().degradedReason !== undefined;
  }

  private leaseLost(error: LeafError): void {
    this.lost = error;
    this.around.tally.lost++;
    this.around.asked(this, error);
    this.note(() => error.message);
  }

  private askNext(): void {
    const { scheduler, conditions } = this.around;
    const next = (Math.floor(this.clock.shown / conditions.askMs) + 1) * conditions.askMs;
    const ask = (): void => {
      this.askNext();
      this.ask();
    };
    scheduler.at(this.clock.local + Math.min(this.clock.until(next), conditions.askMs), 'ask', ask, this);
  }

  private ask(): void {
    // One after the other, so that their order is known.
    if (this.busy) return;
    if (this.random.chance(0.05)) {
      void this.take(1 + this.random.below(3 * this.place.layout.maxSequence));
      return;
    }
    const id = this.ids.tryNext();
    if (id !== undefined) this.given(id, id);
    this.around.asked(this, id === undefined ? this.ids.refusal() : undefined);
    if (id === undefined) return;
    // The rest of the millisecond, or a part of it.
    const range = this.ids.tryRange(this.random.chance(0.3) ? 3900 : 1 + this.random.below(200));
    if (range !== undefined) this.given(range.from, range.to);
  }

  private async take(count: number): Promise<void> {
    this.busy = true;
    try {
      for (const { from, to } of await this.ids.takeRanges(count)) if (this.alive) this.given(from, to);
    } catch (error) {
      this.discarded = Math.max(0, this.ids.lastTimestamp);
      this.failed('take', error);
    }
    this.busy = false;
  }

  /** IDs that were claimed just now, all of one millisecond. */
  private given(from: bigint, to: bigint): void {
    const { ledger, tally } = this.around;
    const { layout } = this.place;
    if (from <= this.newest) ledger.breach('order', `${this.name}: ${from} follows ${this.newest}`);
    this.newest = to;
    tally.ids += Number(to - from) + 1;
    const { timestamp, workerId } = layout.decompose(from);
    const { issuer } = this;
    if (issuer?.workerId !== workerId) {
      // Claimed under the previous term, while the call waited.
      if (!this.busy)
        ledger.breach('error', `${this.name} issued as worker ${workerId}, and holds ${issuer?.workerId}`);
      return;
    }
    expose(issuer, this.byDisk());
    const low = BigInt(layout.workerBits + layout.sequenceBits);
    ledger.issued(
      issuer,
      timestamp,
      Number(BigInt.asUintN(Number(low), from)),
      Number(BigInt.asUintN(Number(low), to)),
    );
  }

  private filed(record: FileRecord): void {
    this.around.ledger.wroteFile(this.name, record);
  }

  /** A refusal is a valid answer; any other error is a bug of the code under test or of the simulation. */
  private failed(what: string, error: unknown): void {
    if (error instanceof LeafError) this.note(() => `${what}: ${error.code} ${error.message.slice(0, 100)}`);
    else this.around.ledger.breach('error', `${this.name}: ${what}: ${reasonOf(error)}`);
  }

  private end(error: unknown): void {
    if (error instanceof LeafError) this.refused = error;
    void this.registry.close();
    this.crash();
  }

  private every(ms: number, label: string, action: () => void): void {
    const due = this.clock.local + ms;
    const run = (): void => {
      this.every(ms, label, action);
      action();
    };
    this.around.scheduler.at(due, label, run, this);
  }

  private note(text: () => string): void {
    this.around.note?.(() => `${this.name}: ${text()}`);
  }
}

/**
 * In half of the worlds with a pool, the hosts have two ranges of worker IDs in turn, which overlap by half. Each is large
 * enough for all servers and windows.
 */
function workersOf(
  { poolSize, mostWindows, clients }: Conditions,
  { ip }: Instance,
): Pick<WorkerRegistryOptions, 'maxWorkerId' | 'workers'> {
  if (poolSize % 2 === 1 || mostWindows < clients) return { maxWorkerId: poolSize - 1 };
  const first = Number(ip.at(-1)) % 2 === 0 ? 0 : poolSize / 2;
  return { maxWorkerId: 2 * poolSize - 1, workers: { first, last: first + poolSize - 1 } };
}
