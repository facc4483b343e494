import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import {
  BitLayout,
  Clock,
  LeafError,
  reasonOf,
  SnowflakeGenerator,
  type SnowflakeSnapshot,
  systemRandom,
  WorkerLease,
  type WorkerLeaseSnapshot,
  WorkerRegistry,
} from '@leaf/core';
import {
  DEFAULT_SNOWFLAKE_MODULE_OPTIONS,
  MODULE_OPTIONS_TOKEN,
  type SnowflakeModuleOptions,
} from './snowflake.module-definition';

/** Snowflake mode in a Nest application: acquires a worker ID at start, gives it back at the end. */
@Injectable()
export class SnowflakeService implements OnModuleInit, OnApplicationShutdown {
  readonly layout: BitLayout;

  private readonly logger = new Logger(SnowflakeService.name);
  private readonly options: Required<SnowflakeModuleOptions>;
  private held: { readonly lease: WorkerLease; readonly generator: SnowflakeGenerator } | undefined;
  private closed: Promise<void> | undefined;

  constructor(
    private readonly registry: WorkerRegistry,
    private readonly clock: Clock,
    @Inject(MODULE_OPTIONS_TOKEN) options: SnowflakeModuleOptions,
  ) {
    this.options = { ...DEFAULT_SNOWFLAKE_MODULE_OPTIONS, ...options };
    this.layout = new BitLayout(this.options.layout);
  }

  /** @throws LeafError when no worker ID can be had; see {@link WorkerLease.acquire} */
  async onModuleInit(): Promise<void> {
    const { instance, horizonMs } = this.options;
    const leaseId = randomBytes(8).toString('hex');
    const leaseOptions = { horizonMs, maxWorkerId: this.layout.maxWorkerId };
    const lease = await WorkerLease.acquire(this.registry, instance, leaseId, this.clock, leaseOptions, {
      onReportFailed: (error) => {
        this.logger.warn(`Time could not be reserved, the lease holds up to its ceiling: ${reasonOf(error)}`);
      },
      onLost: (error) => this.logger.error(`No more snowflake IDs from this server: ${error.message}`),
    });
    const waitMs = lease.floor - this.clock.now();
    if (waitMs > 0) {
      this.logger.warn(
        `Worker ${lease.workerId} was not given back at its last stop: snowflake IDs start in ${waitMs} ms, above the time it had reserved.`,
      );
    }
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

  /** Reserves time ahead in the registry; joins a report under way. Never rejects. */
  reportTime(): Promise<void> {
    return this.held?.lease.report.run() ?? Promise.resolve();
  }

  /** Why no ID can be issued now; undefined when one can. */
  refusal(): LeafError | undefined {
    return this.held === undefined ? notReady() : this.held.generator.refusal();
  }

  /** @throws LeafError `LEAF_NOT_READY` before the worker ID is acquired */
  snapshot(): { readonly generator: SnowflakeSnapshot; readonly lease: WorkerLeaseSnapshot } {
    const { generator, lease } = this.hold();
    return { generator: generator.snapshot(), lease: lease.snapshot() };
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

  private async release(): Promise<void> {
    try {
      await this.held?.lease.release(this.held.generator.lastTimestamp);
    } catch (error) {
      this.logger.warn(`The next start will have to wait for the reserved time to pass: ${reasonOf(error)}`);
    }
    await this.registry.close();
  }
}

function notReady(): LeafError {
  return new LeafError('LEAF_NOT_READY', 'This server has no worker ID yet: it is starting.', { retryAfterMs: 1000 });
}
