import { randomBytes } from 'node:crypto';
import { Logger } from '@nestjs/common';
import {
  BitLayout,
  type Clock,
  type IdRange,
  LeafError,
  numberFaults,
  type Peer,
  PeriodicTask,
  type PeriodicTaskSnapshot,
  reasonOf,
  refuseFaults,
  retry,
  SnowflakeGenerator,
  type SnowflakeSnapshot,
  systemRandom,
  withinDeadline,
  WorkerLease,
  type WorkerLeaseEvents,
  type WorkerLeaseSnapshot,
  type WorkerRegistry,
  type WorkerUsage,
} from '@leaf-ids/core';
import { DEFAULT_SNOWFLAKE_MODULE_OPTIONS, type SnowflakeModuleOptions } from './snowflake-options';

/** How long a start retries while the registry cannot be reached, in milliseconds. */
const REGISTRY_WAIT_MS = 30_000;
/** How long a stop waits for an acquisition under way, in milliseconds. */
const ACQUISITION_LIMIT_MS = 300;

export interface SnowflakeServiceSnapshot {
  readonly generator: SnowflakeSnapshot;
  readonly lease: WorkerLeaseSnapshot;
  readonly maintenance: PeriodicTaskSnapshot;
  /** By the last count; undefined before it, and where worker IDs cannot run out. */
  readonly workers: WorkerUsage | undefined;
  /** Offset of our clock from the median of the others, by the last comparison; undefined without others. */
  readonly clockOffsetMs: number | undefined;
}

/** Snowflake mode of a runtime: acquires a worker ID at the start and releases it at the stop. */
export class SnowflakeService {
  readonly layout: BitLayout;
  /** Refuses, and says why, as long as there is no worker ID. */
  readonly generator: SnowflakeGenerator;

  private readonly logger = new Logger(SnowflakeService.name);
  private readonly registry: WorkerRegistry;
  private readonly lease: WorkerLease;
  private readonly waitForWorker: boolean;
  private readonly maintenance: PeriodicTask;
  private stopped: Promise<void> | undefined;
  private loggedReason: string | undefined;
  private starting = true;
  private readonly stopping = new AbortController();
  private firstWait = (): void => undefined;

  /** @throws LeafError `LEAF_CONFIG_INVALID` naming every invalid option */
  constructor(
    registry: WorkerRegistry,
    private readonly clock: Clock,
    given: SnowflakeModuleOptions,
  ) {
    const options = { ...DEFAULT_SNOWFLAKE_MODULE_OPTIONS, ...given };
    refuseFaults('snowflake mode', optionFaults(options));
    this.registry = given.wrapRegistry?.(registry) ?? registry;
    this.waitForWorker = options.waitForWorker;
    this.layout = new BitLayout(options.layout);
    const newest = (): number => this.generator.lastTimestamp;
    const leaseId = randomBytes(8).toString('hex');
    this.lease = new WorkerLease(this.registry, options.instance, leaseId, newest, clock, this.events());
    this.generator = new SnowflakeGenerator(this.layout, this.lease, clock, systemRandom, options);
    this.maintenance = new PeriodicTask(
      'registry-maintenance',
      () => this.registry.maintain(),
      clock,
      (error) => this.logger.warn(`The housekeeping of the worker registry failed: ${reasonOf(error)}`),
    );
  }

  /** @throws LeafError when no worker ID can be had; see {@link WorkerRegistry.acquire} */
  async start(): Promise<void> {
    const waiting = new Promise<void>((resolve) => (this.firstWait = resolve));
    const acquired = this.acquire();
    if (this.waitForWorker) {
      await acquired;
      this.starting = false;
      return;
    }
    await Promise.race([acquired, waiting]);
    // Segments are served meanwhile. Later failures show in the refusals, and the reports try again.
    acquired.catch(() => undefined);
    this.starting = false;
  }

  /** The next ID in decimal, or undefined when it would have to wait or be refused. */
  tryNextString(): string | undefined {
    return this.generator.tryNextString();
  }

  /** See {@link SnowflakeGenerator.tryRange}. */
  tryRange(count: number): IdRange | undefined {
    return this.generator.tryRange(count);
  }

  /** Reserves time ahead in the registry; joins a report under way. Never rejects. */
  async reportTime(): Promise<void> {
    await this.lease.report.run();
    this.reportDegraded();
  }

  /** Does the registry's housekeeping and counts its worker IDs; joins a round under way. Never rejects. */
  maintainRegistry(): Promise<void> {
    return this.maintenance.run();
  }

  /** How far ahead of the clock time is reserved, in milliseconds. */
  get horizonMs(): number {
    return this.registry.options.horizonMs;
  }

  /** The servers that are up, as far as the registry knows. Asks it: not for the path of a request. */
  peers(): Promise<Peer[]> {
    return this.registry.peers();
  }

  /** Why the worker file replaces the registry; undefined while the registry is reached. */
  get degradedReason(): string | undefined {
    return this.lease.snapshot().degradedReason;
  }

  /** Why no ID can be issued now; undefined when one can. */
  refusal(): LeafError | undefined {
    return this.generator.refusal();
  }

  snapshot(): SnowflakeServiceSnapshot {
    return {
      generator: this.generator.snapshot(),
      lease: this.lease.snapshot(),
      maintenance: this.maintenance.snapshot(),
      workers: this.registry.usage,
      clockOffsetMs: this.registry.clockCheck?.offsetMs,
    };
  }

  /** Releases the worker ID. Later calls join the first. */
  stop(): Promise<void> {
    this.stopped ??= this.release();
    return this.stopped;
  }

  /** Retries for a while, since the registry may still be starting. */
  private acquire(): Promise<void> {
    const deadline = this.clock.monotonic() + REGISTRY_WAIT_MS;
    const isRetryable = (error: unknown): boolean => isUnreachable(error) && this.clock.monotonic() < deadline;
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
        this.logger.log(`Worker ${workerId} of ${this.registry.description}; ${compared}.`);
        this.reportDegraded();
      },
      onAcquireFailed: (error) => {
        if (isUnreachable(error)) this.logger.warn(`No worker ID yet: ${reasonOf(error)}`);
        // A failure that ends the start is logged by the start.
        else if (!this.starting) this.logger.error(`No worker ID: ${reasonOf(error)}`);
      },
      onReportFailed: (error) =>
        this.logger.warn(`Cannot report to the worker registry; the lease holds up to its ceiling: ${reasonOf(error)}`),
      onRegisteredAgain: (workerId) =>
        this.logger.warn(`${this.registry.description} has lost its history: worker ${workerId} was registered again.`),
      onHistoryLost: (workerId) =>
        this.logger.warn(
          `Worker ${workerId} of ${this.registry.description} is no longer held by this server: the registry has lost its history or given it to another server. This server acquires another worker ID.`,
        ),
      onLost: (error) => this.logger.error(`This server issues no more snowflake IDs: ${error.message}`),
    };
  }

  /** Logs when the worker file begins and ceases to replace the registry. */
  private reportDegraded(): void {
    const reason = this.degradedReason;
    if ((reason === undefined) === (this.loggedReason === undefined)) return;
    this.loggedReason = reason;
    if (reason === undefined) this.logger.log('The worker registry is reached again.');
    else this.logger.warn(`The worker registry is not reached; this server goes on from its worker file: ${reason}`);
  }

  private async release(): Promise<void> {
    this.stopping.abort();
    const isHeld = this.lease.tenure !== undefined;
    await this.maintenance.stop();
    const released = this.lease.release().catch((error: unknown) => {
      this.logger.warn(
        `The worker ID was not released; the next start has to wait for the reserved time: ${reasonOf(error)}`,
      );
    });
    // An acquisition under way is released as soon as it succeeds, unless the registry does not answer.
    const deadline = this.clock.monotonic() + ACQUISITION_LIMIT_MS;
    if (!isHeld && !(await withinDeadline(released, deadline, this.clock))) await this.registry.abort();
    await released;
    await this.registry.close();
  }
}

function optionFaults(options: SnowflakeModuleOptions): string[] {
  return numberFaults(options, { waitMs: { min: 0 }, maxBackwardsMs: { min: 0 }, maintainMs: { min: 1 } });
}

function isUnreachable(error: unknown): boolean {
  return error instanceof LeafError && error.code === 'LEAF_REGISTRY_UNREACHABLE';
}
