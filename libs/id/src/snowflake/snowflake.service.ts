import { randomBytes } from 'node:crypto';
import {
  BitLayout,
  type Clock,
  LeafError,
  type LeafErrorCode,
  type Peer,
  type PeriodicTaskSnapshot,
  type StoredWorker,
  type WorkerRegistry,
  type WorkerUsage,
  isLeafError,
} from '@leaf-ids/core';
import {
  LoggedLayout,
  PeriodicTask,
  reasonOf,
  retry,
  SnowflakeGenerator,
  type SnowflakeSnapshot,
  systemRandom,
  withDefaults,
  withinDeadline,
  WorkerLease,
  type WorkerRange,
  type WorkerLeaseEvents,
  type WorkerLeaseSnapshot,
  WorkerWindows,
} from '@leaf-ids/core/internal';
import { type LeafLogger, loggerOf } from '@leaf-ids/persistence';
import { DEFAULT_SNOWFLAKE_MODULE_OPTIONS, type SnowflakeModuleOptions } from './snowflake-options';

/** How long a start retries while the registry cannot be reached, in milliseconds. */
const REGISTRY_WAIT_MS = 30_000;
/** How long a stop waits for an acquisition under way, in milliseconds. */
const ACQUISITION_LIMIT_MS = 300;
/** Only a change of a setting corrects these. Both modes of a server with wrong settings must not be trusted. */
const CONFIGURATION_FAULTS: ReadonlySet<LeafErrorCode> = new Set<LeafErrorCode>([
  'LEAF_CONFIG_INVALID',
  'LEAF_LAYOUT_INVALID',
  'LEAF_LAYOUT_MISMATCH',
  'LEAF_REGISTRY_MISMATCH',
  'LEAF_WORKER_UNASSIGNED',
  'LEAF_DATABASE_UNUSABLE',
]);

export interface SnowflakeServiceSnapshot {
  readonly generator: SnowflakeSnapshot;
  readonly lease: WorkerLeaseSnapshot;
  readonly maintenance: PeriodicTaskSnapshot;
  /** As last counted; undefined before the first count, and if worker IDs cannot run out. */
  readonly workers: WorkerUsage | undefined;
  /**
   * Offset of our clock from the median of the others at the last comparison; undefined if there was none to compare
   * with.
   */
  readonly clockOffsetMs: number | undefined;
}

/** The latest date of JavaScript, in Unix milliseconds. */
const MAX_DATE_MS = 8.64e15;

/** Snowflake mode of a runtime: acquires a worker ID at the start and releases it at the stop. */
export class SnowflakeService {
  readonly layout: BitLayout;
  /** Refuses IDs, with the reason, while there is no worker ID. */
  readonly generator: SnowflakeGenerator;
  /** Worker IDs for processes that issue snowflake IDs themselves. */
  readonly windows: WorkerWindows;

  private readonly logger: LeafLogger;
  private readonly registry: WorkerRegistry;
  private readonly lease: WorkerLease;
  private readonly waitForWorker: boolean;
  private readonly maintenance: PeriodicTask;
  private readonly windowKeeping: PeriodicTask;
  private stopped: Promise<number | undefined> | undefined;
  private loggedReason: string | undefined;
  private starting = true;
  private startsWithoutRegistry = false;
  private readonly stopping = new AbortController();
  private firstWait = (): void => undefined;

  /** @param given options without faults */
  constructor(
    registry: WorkerRegistry,
    private readonly clock: Clock,
    given: SnowflakeModuleOptions,
  ) {
    const options = withDefaults(DEFAULT_SNOWFLAKE_MODULE_OPTIONS, given);
    this.logger = loggerOf(given, 'SnowflakeService');
    this.registry = given.wrapRegistry?.(registry) ?? registry;
    this.waitForWorker = options.waitForWorker;
    this.layout = new BitLayout(options.layout);
    const newest = (): number => this.generator.lastTimestamp;
    const leaseId = randomBytes(8).toString('hex');
    this.lease = new WorkerLease(this.registry, options.instance, leaseId, newest, clock, this.events());
    const layout = given.stepLog ? new LoggedLayout(this.layout, given.stepLog) : this.layout;
    this.generator = new SnowflakeGenerator(layout, this.lease, clock, systemRandom, options);
    const { instance, mostWindows } = options;
    this.windows = new WorkerWindows(this.registry, instance, clock, mostWindows);
    const task = (name: string, run: () => Promise<void>, what: string): PeriodicTask =>
      new PeriodicTask(name, run, clock, (error) => this.logger.warn(`${what} failed: ${reasonOf(error)}`));
    this.maintenance = task(
      'registry-maintenance',
      () => this.registry.maintain(options.maintainMs),
      'The maintenance of the worker registry',
    );
    this.windowKeeping = task('worker-windows', () => this.windows.keep(), 'The check of the worker windows');
  }

  /**
   * Acquires a worker ID. Without `waitForWorker`, it returns as soon as that has to wait, and beside another mode also
   * when it fails: the failure appears in the refusals, and the reports retry.
   *
   * @param alone whether the runtime has no other mode
   * @throws LeafError when no worker ID is available (see {@link WorkerRegistry.acquire}), unless the other mode can be
   *   served; always for a fault of the configuration
   */
  async start(alone = true): Promise<void> {
    const mayFail = !this.waitForWorker && !alone;
    const waiting = new Promise<void>((resolve) => (this.firstWait = resolve));
    this.startsWithoutRegistry = mayFail;
    const acquired = this.acquire();
    try {
      await (this.waitForWorker ? acquired : Promise.race([acquired, waiting]));
    } catch (error) {
      if (!mayFail || !(error instanceof LeafError) || CONFIGURATION_FAULTS.has(error.code)) throw error;
      this.logger.error(`No worker ID; this server serves segment IDs and retries: ${reasonOf(error)}`);
    }
    acquired.catch(() => undefined);
    this.starting = false;
  }

  /** Reserves time in the registry; joins a report in progress. Never rejects. */
  async reportTime(): Promise<void> {
    await Promise.all([this.lease.report.run(), this.windowKeeping.run()]);
    this.reportDegraded();
  }

  /** Runs the maintenance of the registry and counts its worker IDs; joins a run in progress. Never rejects. */
  maintainRegistry(): Promise<void> {
    return this.maintenance.run();
  }

  /** Lease TTL: how far ahead of the clock time is reserved, in milliseconds. */
  get leaseTtlMs(): number {
    return this.registry.options.leaseTtlMs;
  }

  /** The worker IDs that this server may have. */
  get workers(): WorkerRange {
    return this.registry.workers;
  }

  /** The running servers that the registry knows. Queries the registry: do not call it per request. */
  peers(): Promise<Peer[]> {
    return this.registry.peers();
  }

  /** The records of all worker IDs. Queries the registry: do not call it per request. */
  records(): Promise<StoredWorker[]> {
    return this.registry.records();
  }

  /** The state of the generator, the lease and the periodic jobs, as plain data. */
  snapshot(): SnowflakeServiceSnapshot {
    return {
      generator: this.generator.snapshot(),
      lease: this.lease.snapshot(),
      maintenance: this.maintenance.snapshot(),
      workers: this.registry.usage,
      clockOffsetMs: this.registry.clockCheck?.offsetMs,
    };
  }

  /**
   * Releases the worker ID. Resolves with it; with undefined if none was held, or if it could not be released. Later calls
   * join the first one.
   */
  stop(): Promise<number | undefined> {
    this.stopped ??= this.release();
    return this.stopped;
  }

  /** Acquires a worker ID. Retries for a while, because the registry may still be starting. */
  private acquire(): Promise<void> {
    const deadline = this.clock.monotonic() + REGISTRY_WAIT_MS;
    const isRetryable = (error: unknown): boolean =>
      isLeafError(error, 'LEAF_REGISTRY_UNREACHABLE') && this.clock.monotonic() < deadline;
    const { signal } = this.stopping;
    const options = { attempts: Infinity, firstMs: 100, maxMs: 1000, isRetryable, signal };
    return retry(() => this.lease.acquire(), options, this.clock, systemRandom);
  }

  private events(): WorkerLeaseEvents {
    return {
      onWaiting: (reason) => {
        this.logger.warn(reason.message);
        this.firstWait();
      },
      onAcquired: ({ workerId }) => {
        const check = this.registry.clockCheck;
        const compared =
          check?.offsetMs === undefined
            ? 'the clock was not compared'
            : `clock offset ${Math.round(check.offsetMs)} ms from the median of ${check.answered} compared`;
        const end = new Date(Math.min(this.layout.maxTimestamp, MAX_DATE_MS)).toISOString().split('T')[0];
        this.logger.log(
          `Worker ${workerId} of ${this.registry.description}; ${compared}; the layout has IDs up to ${end}.`,
        );
        const refusal = this.generator.refusal();
        if (isLeafError(refusal, 'LEAF_EPOCH_EXHAUSTED')) this.logger.error(reasonOf(refusal));
        this.reportDegraded();
      },
      onAcquireFailed: (error) => {
        if (isLeafError(error, 'LEAF_REGISTRY_UNREACHABLE')) {
          this.logger.warn(`No worker ID yet: ${reasonOf(error)}`);
          if (this.startsWithoutRegistry) this.firstWait();
        }
        // The start itself reports a failure that ends it.
        else if (!this.starting) this.logger.error(`No worker ID: ${reasonOf(error)}`);
      },
      onReportFailed: (error) =>
        this.logger.warn(
          `Cannot report to the worker registry; the lease stays valid up to its ceiling: ${reasonOf(error)}`,
        ),
      onRegisteredAgain: (workerId) =>
        this.logger.warn(`${this.registry.description} has lost its history: worker ${workerId} was registered again.`),
      onHistoryLost: (workerId) =>
        this.logger.warn(
          `This server no longer holds worker ${workerId} of ${this.registry.description}: the registry has lost its history, or has assigned the worker to another server. This server acquires another worker ID.`,
        ),
      onLost: (error) => this.logger.error(`This server issues no more snowflake IDs: ${error.message}`),
    };
  }

  /** Logs when the worker file starts or stops replacing the registry. */
  private reportDegraded(): void {
    const { degradedReason: reason } = this.lease.snapshot();
    if ((reason === undefined) === (this.loggedReason === undefined)) return;
    this.loggedReason = reason;
    if (reason === undefined) this.logger.log('The worker registry is reachable again.');
    else this.logger.warn(`The worker registry is unreachable; this server continues with its worker file: ${reason}`);
  }

  private async release(): Promise<number | undefined> {
    this.stopping.abort();
    const held = this.lease.term?.workerId;
    await Promise.all([this.maintenance.stop(), this.windowKeeping.stop()]);
    const released = this.lease.release().then(
      () => held,
      (error: unknown) => {
        this.logger.warn(
          `Cannot release the worker ID; the next start waits until the reserved time has passed: ${reasonOf(error)}`,
        );
        return undefined;
      },
    );
    // An acquisition under way is released as soon as it succeeds, unless the registry does not answer.
    const deadline = this.clock.monotonic() + ACQUISITION_LIMIT_MS;
    if (held === undefined && !(await withinDeadline(released, deadline, this.clock))) await this.registry.abort();
    await released;
    await this.registry.close();
    return released;
  }
}
