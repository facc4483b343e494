import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import {
  BitLayout,
  checkClock,
  Clock,
  formatInstance,
  type IdRange,
  LeafError,
  type Peer,
  PeriodicTask,
  type PeriodicTaskSnapshot,
  reasonOf,
  retry,
  SnowflakeGenerator,
  type SnowflakeSnapshot,
  systemRandom,
  WorkerLease,
  type WorkerLeaseSnapshot,
  WorkerRegistry,
  type WorkerUsage,
} from '@leaf/core';
import {
  DEFAULT_SNOWFLAKE_MODULE_OPTIONS,
  MODULE_OPTIONS_TOKEN,
  type SnowflakeModuleOptions,
} from './snowflake.module-definition';

/** How long a start waits for a registry that is not up yet, in milliseconds. */
const REGISTRY_WAIT_MS = 30_000;
/** How long another server may take to say what time it is, in milliseconds. */
const PEER_LIMIT_MS = 1000;

export interface SnowflakeServiceSnapshot {
  readonly generator: SnowflakeSnapshot;
  readonly lease: WorkerLeaseSnapshot;
  readonly maintenance: PeriodicTaskSnapshot;
  /** As last read; undefined before, and where the registry has nothing to count. */
  readonly workers: WorkerUsage | undefined;
  /** How far the clock was from those of the others at the start; undefined when there were none. */
  readonly clockOffsetMs: number | undefined;
}

/** Snowflake mode in a Nest application: acquires a worker ID at start, gives it back at the end. */
@Injectable()
export class SnowflakeService implements OnModuleInit, OnApplicationShutdown {
  readonly layout: BitLayout;

  private readonly logger = new Logger(SnowflakeService.name);
  private readonly options: Required<Omit<SnowflakeModuleOptions, 'wrapRegistry'>>;
  private readonly registry: WorkerRegistry;
  private held: { readonly lease: WorkerLease; readonly generator: SnowflakeGenerator } | undefined;
  private closed: Promise<void> | undefined;
  private trouble: string | undefined;
  private clockOffsetMs: number | undefined;
  private readonly maintenance: PeriodicTask;
  private readonly usageReading: PeriodicTask;
  private workers: WorkerUsage | undefined;

  constructor(
    registry: WorkerRegistry,
    private readonly clock: Clock,
    @Inject(MODULE_OPTIONS_TOKEN) { wrapRegistry, ...options }: SnowflakeModuleOptions,
  ) {
    this.registry = wrapRegistry?.(registry) ?? registry;
    this.options = { ...DEFAULT_SNOWFLAKE_MODULE_OPTIONS, ...options };
    this.layout = new BitLayout(this.options.layout);
    this.maintenance = new PeriodicTask(
      'registry-maintenance',
      () => this.registry.maintain(),
      clock,
      (error) => this.logger.warn(`The housekeeping of the worker registry failed: ${reasonOf(error)}`),
    );
    this.usageReading = new PeriodicTask(
      'registry-usage',
      async () => void (this.workers = await this.registry.usage()),
      clock,
      (error) => this.logger.debug(`The worker IDs were not counted: ${reasonOf(error)}`),
    );
  }

  /** @throws LeafError when no worker ID can be had; see {@link checkClock} and {@link WorkerLease.acquire} */
  async onModuleInit(): Promise<void> {
    await this.compareClock();
    const lease = await this.acquire();
    const waitMs = lease.floor - this.clock.now();
    if (waitMs > 0) {
      this.logger.warn(
        `Worker ${lease.workerId} was not given back at its last stop: snowflake IDs start in ${waitMs} ms, above the time it had reserved.`,
      );
    }
    this.reportTrouble();
    this.held = {
      lease,
      generator: new SnowflakeGenerator(this.layout, lease, this.clock, systemRandom, this.options),
    };
  }

  /** @throws LeafError `LEAF_NOT_READY` before the worker ID is acquired */
  get generator(): SnowflakeGenerator {
    return this.hold().generator;
  }

  /** The next ID in decimal, or undefined when it would have to wait or be refused. */
  tryNextString(): string | undefined {
    return this.held?.generator.tryNextString();
  }

  /** See {@link SnowflakeGenerator.tryRange}. */
  tryRange(count: number): IdRange | undefined {
    return this.held?.generator.tryRange(count);
  }

  /** Reserves time ahead in the registry; joins a report under way. Never rejects. */
  async reportTime(): Promise<void> {
    await this.held?.lease.report.run();
    this.reportTrouble();
  }

  /** Does the registry's housekeeping; joins a round under way. Never rejects. */
  async maintainRegistry(): Promise<void> {
    await this.maintenance.run();
    await this.countWorkers();
  }

  /** Reads how many worker IDs are used up; joins a reading under way. Never rejects. */
  countWorkers(): Promise<void> {
    return this.usageReading.run();
  }

  /** How far ahead of the clock time is reserved, in milliseconds. */
  get horizonMs(): number {
    return this.options.horizonMs;
  }

  /** The servers that are up, as far as the registry knows. Asks it: not for the path of a request. */
  peers(): Promise<Peer[]> {
    return this.registry.peers();
  }

  /** What makes the registry less than reliable now; undefined when all is well. */
  get registryTrouble(): string | undefined {
    return this.registry.trouble;
  }

  /** Why no ID can be issued now; undefined when one can. */
  refusal(): LeafError | undefined {
    return this.held === undefined ? notReady() : this.held.generator.refusal();
  }

  /** @throws LeafError `LEAF_NOT_READY` before the worker ID is acquired */
  snapshot(): SnowflakeServiceSnapshot {
    const { generator, lease } = this.hold();
    return {
      generator: generator.snapshot(),
      lease: lease.snapshot(),
      maintenance: this.maintenance.snapshot(),
      workers: this.workers,
      clockOffsetMs: this.clockOffsetMs,
    };
  }

  /** Gives the worker ID back. Later calls join the first. */
  onApplicationShutdown(): Promise<void> {
    this.closed ??= this.release();
    return this.closed;
  }

  private hold(): { readonly lease: WorkerLease; readonly generator: SnowflakeGenerator } {
    if (this.held === undefined) throw notReady();
    return this.held;
  }

  /** Before the worker ID is acquired: a clock that is wrong shall not reserve time. */
  private async compareClock(): Promise<void> {
    const { maxClockOffsetMs: maxOffsetMs, instance } = this.options;
    if (maxOffsetMs === 0) return;
    const own = formatInstance(instance);
    try {
      const sources = (await this.registry.timeSources()).filter(({ name }) => name !== own);
      const { answered, offsetMs } = await checkClock(sources, this.clock, { maxOffsetMs, limitMs: PEER_LIMIT_MS });
      this.clockOffsetMs = offsetMs;
      if (offsetMs !== undefined) {
        this.logger.log(`The clock was compared with ${answered} others: ${Math.round(offsetMs)} ms away.`);
      }
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      this.logger.warn(`The clock was compared with nobody: ${reasonOf(error)}`);
    }
  }

  /** A registry that is just being started is waited for. */
  private acquire(): Promise<WorkerLease> {
    const { instance, horizonMs } = this.options;
    const leaseOptions = { horizonMs, maxWorkerId: this.layout.maxWorkerId };
    const events = {
      onReportFailed: (error: unknown) => {
        this.logger.warn(`Time could not be reserved, the lease holds up to its ceiling: ${reasonOf(error)}`);
      },
      onLost: (error: LeafError) => this.logger.error(`No more snowflake IDs from this server: ${error.message}`),
    };
    const attempt = (): Promise<WorkerLease> => {
      const leaseId = randomBytes(8).toString('hex');
      return WorkerLease.acquire(this.registry, instance, leaseId, this.clock, leaseOptions, events);
    };
    const deadline = this.clock.monotonic() + REGISTRY_WAIT_MS;
    const isRetryable = (error: unknown): boolean => isUnreachable(error) && this.clock.monotonic() < deadline;
    const onRetry = (error: unknown): void => this.logger.warn(`No worker ID yet: ${reasonOf(error)}`);
    const options = { attempts: Infinity, firstMs: 100, maxMs: 1000, isRetryable, onRetry };
    return retry(attempt, options, this.clock, systemRandom);
  }

  /** Once each time it begins and ends. */
  private reportTrouble(): void {
    const { trouble } = this.registry;
    if ((trouble === undefined) === (this.trouble === undefined)) return;
    this.trouble = trouble;
    if (trouble === undefined) this.logger.log('The worker registry is reached again.');
    else this.logger.warn(`The local file stands in for the worker registry: ${trouble}`);
  }

  private async release(): Promise<void> {
    await this.maintenance.stop();
    try {
      await this.held?.lease.release(this.held.generator.lastTimestamp);
    } catch (error) {
      this.logger.warn(`The next start will have to wait for the reserved time to pass: ${reasonOf(error)}`);
    }
    await this.registry.close();
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof LeafError && error.code === 'LEAF_REGISTRY_UNREACHABLE';
}

function notReady(): LeafError {
  return new LeafError('LEAF_NOT_READY', 'This server has no worker ID yet: it is starting.', { retryAfterMs: 1000 });
}
