import { Logger } from '@nestjs/common';
import { LeafError, type SegmentStore, ShutdownStack, SystemClock, type TagStore } from '@leaf-ids/core';
import { openDataSource, openPersistence, type Persistence } from '@leaf-ids/persistence';
import { createRegistry } from '@leaf-ids/registry';
import { SEGMENT_STOP_LIMIT_MS, SegmentService } from '@leaf-ids/segment';
import { SnowflakeService } from '@leaf-ids/snowflake';
import { DatabaseProbe } from './database-probe';
import { EmbeddedIdService } from './embedded-id-service';
import { type Job, Jobs, segmentJobs, snowflakeJobs } from './leaf.job';
import type { LeafOptions } from './leaf-options';
import { persistenceOptions, registryOptions, segmentOptions, snowflakeOptions } from './mode-options';
import { type LeafReadiness, type LeafStatus, readinessOf, statusOf, type StatusSources } from './status';

/** Of a tag that is declared by its name alone. */
const STEP = 2000;
/** How long the worker ID may take to be released, and the database to be closed, in milliseconds. */
const STOP_LIMIT_MS = 15_000;

/** What segment mode keeps in its database. */
export interface LeafStores {
  readonly segments: SegmentStore;
  readonly tags: TagStore;
}

/**
 * Segment and snowflake IDs in this process, without a framework. It owns the order of start and stop; several of them in
 * one process do not disturb each other.
 *
 * @example
 * const leaf = await Leaf.start({ database: 'sqlite:./data/leaf.sqlite', tags: ['order'], snowflake: {} });
 * await leaf.ids.nextId('order');
 * await leaf.stop();
 */
export class Leaf {
  /** Undefined when segment mode is off. */
  readonly segments: SegmentService | undefined;
  /** Undefined when snowflake mode is off. */
  readonly snowflake: SnowflakeService | undefined;
  /** Both modes behind one interface. */
  readonly ids: EmbeddedIdService;
  readonly probe: DatabaseProbe;
  readonly jobs: Jobs;

  private readonly clock = new SystemClock();
  private readonly opened: ShutdownStack;
  private started: Promise<void> | undefined;
  private stopped: Promise<void> | undefined;

  /**
   * Opens the database, makes the declared tags, reads the tags, acquires a worker ID and starts the periodic jobs, in
   * this order.
   *
   * @throws LeafError a fault of the start; everything that was opened is closed again
   */
  static async start(options: LeafOptions): Promise<Leaf> {
    const database = persistenceOptions(options);
    const source = await openDataSource(database);
    let persistence: Persistence | undefined;
    const close = async (): Promise<void> => {
      await persistence?.onApplicationShutdown();
      if (source.isInitialized) await source.destroy();
    };
    try {
      persistence = await openPersistence(database, source);
      const leaf = new Leaf(options, persistence);
      leaf.opened.add('close the database', STOP_LIMIT_MS, close);
      await leaf.init();
      return leaf;
    } catch (error) {
      await close();
      throw error;
    }
  }

  /**
   * Begins nothing before {@link init}: for frameworks that construct first and start later.
   *
   * @param stores of the database of the options, which whoever opened it closes after {@link stop}
   * @throws LeafError `LEAF_CONFIG_INVALID`
   */
  constructor(
    private readonly options: LeafOptions,
    private readonly stores?: LeafStores,
  ) {
    const logger = new Logger(Leaf.name);
    this.opened = new ShutdownStack(this.clock, (step, problem) => logger.error(`Stop: ${step}: ${problem}`));
    const jobs: Job[] = [];
    const segment = segmentOptions(options);
    if (segment !== undefined && stores !== undefined) {
      this.segments = new SegmentService(stores.segments, this.clock, segment);
      jobs.push(...segmentJobs(this.segments, segment));
    }
    const snowflake = snowflakeOptions(options);
    if (snowflake !== undefined) {
      this.snowflake = new SnowflakeService(createRegistry(registryOptions(snowflake)), this.clock, snowflake);
      jobs.push(...snowflakeJobs(this.snowflake, snowflake));
    }
    this.jobs = new Jobs(jobs);
    this.ids = new EmbeddedIdService(this.segments, this.snowflake, this);
    this.probe = new DatabaseProbe(this.clock, stores?.segments);
  }

  /**
   * Starts what was constructed; later calls join the first.
   *
   * @throws LeafError a fault of the start; what was started is stopped again
   */
  init(): Promise<void> {
    this.started ??= this.run();
    return this.started;
  }

  /** The current status as plain data. Waits for nothing; takes longer with every tag, as the counts of all tags are added up. */
  status(): LeafStatus {
    return statusOf(this.sources());
  }

  /** The health of each mode, for probes. Waits for nothing; takes the same time with any number of tags. */
  readiness(): LeafReadiness {
    return readinessOf(this.sources());
  }

  /**
   * Ends the jobs, gives unused IDs back, releases the worker ID, closes what {@link Leaf.start} has opened. A step that
   * fails is logged and the next one still runs. Later calls join the first; never rejects.
   */
  stop(): Promise<void> {
    this.stopped ??= this.shutDown();
    return this.stopped;
  }

  private sources(): StatusSources {
    const { segments, snowflake, probe, clock } = this;
    return { segments, snowflake, probe, clock, store: this.stores?.segments };
  }

  private async run(): Promise<void> {
    const { opened, segments, snowflake } = this;
    try {
      await this.createTags();
      if (snowflake !== undefined) opened.add('release the worker ID', STOP_LIMIT_MS, () => snowflake.stop());
      if (segments !== undefined) {
        opened.add('give unused IDs back', SEGMENT_STOP_LIMIT_MS, () => segments.stop());
        await segments.start();
      }
      await snowflake?.start();
      this.jobs.start();
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  /** A tag that is there stays as it is. */
  private async createTags(): Promise<void> {
    for (const declared of this.options.tags ?? []) {
      const tag = typeof declared === 'string' ? { tag: declared, step: STEP } : declared;
      await this.stores?.tags.create(tag).catch(ignoreExisting);
    }
  }

  private async shutDown(): Promise<void> {
    await this.started?.catch(() => undefined);
    this.jobs.stop();
    await this.opened.close();
  }
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof LeafError) || error.code !== 'LEAF_TAG_EXISTS') throw error;
}
