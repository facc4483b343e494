import { LeafError, Numbers, type SegmentStore, SystemClock, type TagStore, type Clock } from '@leaf-ids/core';
import {
  type NumberStore,
  reasonOf,
  ShutdownStack,
  systemRandom,
  Ticker,
  unlessAborted,
  withDefaults,
  withinDeadline,
} from '@leaf-ids/core/internal';
import { type LeafLogger, loggerOf, openPersistence } from '@leaf-ids/persistence';
import { createRegistry } from '@leaf-ids/registry';
import {
  SEGMENT_STOP_LIMIT_MS,
  SegmentService,
  DEFAULT_SEGMENT_MODULE_OPTIONS,
  type SegmentModuleOptions,
} from '../segment/segment.service';
import { TagEnds } from '../segment/tag-ends';
import { SnowflakeService } from '../snowflake/snowflake.service';
import { type LeafOptions, RuntimeOptions } from '../options/leaf-options';
import { DatabaseProbe } from './health';
import { createDeclared } from './declared-tags';
import { EmbeddedIdService } from './embedded-id-service';
import { type LeafReadiness, type LeafStatus, readinessOf, statusOf, type StatusSources } from './status';
import { DEFAULT_SNOWFLAKE_MODULE_OPTIONS, type SnowflakeModuleOptions } from '../snowflake/snowflake-options';

/** Limit for releasing the worker ID, and for closing the database, in milliseconds. */
const STOP_LIMIT_MS = 15_000;
/** Limit for queries of jobs at the stop, in milliseconds: a database that hangs does not delay it. */
const READS_LIMIT_MS = 1000;

/** The stores of segment mode in its database. */
export interface LeafStores {
  readonly segments: SegmentStore;
  readonly tags: TagStore;
  readonly numbers: NumberStore;
}

/**
 * Segment and snowflake IDs in this process, without a framework. It defines the order of start and stop. Several
 * instances in one process are independent.
 *
 * @example
 * const leaf = await Leaf.start({ database: 'sqlite:./data/leaf.sqlite', tags: ['order'], snowflake: {} });
 * await leaf.ids.nextId('order');
 * await leaf.stop();
 */
export class Leaf {
  /** Undefined when segment mode is disabled. */
  readonly segments: SegmentService | undefined;
  /** Numbers of gapless tags; undefined when segment mode is disabled. */
  readonly numbers: Numbers | undefined;
  /** Estimates of when tags run out of IDs; undefined when segment mode is disabled. */
  readonly tagEnds: TagEnds | undefined;
  /** Undefined when snowflake mode is disabled. */
  readonly snowflake: SnowflakeService | undefined;
  /** Both modes behind one interface. */
  readonly ids: EmbeddedIdService;
  readonly probe: DatabaseProbe;
  /** The periodic jobs, each with a timer of its own. */
  readonly jobs: readonly Ticker[];

  /** The jobs that read the database outside of the services, which end their own at the stop. */
  private readonly readers: readonly Ticker[] = [];
  private readonly logger: LeafLogger;
  private readonly clock = new SystemClock();
  private readonly opened: ShutdownStack;
  private readonly stopping = new AbortController();
  private readonly tags: RuntimeOptions['tags'];
  /** Aborts a start under way. */
  private readonly aborting: AbortSignal;
  private started: Promise<void> | undefined;
  private stopped: Promise<void> | undefined;
  /** Returned IDs and worker ID, for the log. */
  private readonly givenBack: string[] = [];

  /**
   * Opens the database, creates the declared tags, reads the tags, acquires a worker ID and starts the periodic jobs,
   * in this order.
   *
   * @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults of the options, or when they enable no mode; or when a
   *   step fails: everything that was opened is closed again
   */
  static async start(options: LeafOptions): Promise<Leaf> {
    const checked = RuntimeOptions.of('Leaf', options);
    const persistence = await openPersistence(checked.persistence);
    const close = async (): Promise<void> => persistence?.onApplicationShutdown();
    try {
      const leaf = new Leaf(checked, persistence);
      leaf.opened.add('close the database', STOP_LIMIT_MS, close);
      await leaf.init();
      return leaf;
    } catch (error) {
      await close();
      throw error;
    }
  }

  /**
   * Does no I/O before {@link init}, for frameworks that separate construction and start.
   *
   * @param stores the stores of the configured database; their owner closes it after {@link stop}
   * @throws LeafError `LEAF_CONFIG_INVALID`
   */
  constructor(
    options: LeafOptions | RuntimeOptions,
    private readonly stores?: LeafStores,
  ) {
    const checked = options instanceof RuntimeOptions ? options : RuntimeOptions.of('Leaf', options);
    const { segment, snowflake, registry, signal } = checked;
    this.tags = checked.tags;
    this.logger = loggerOf(checked, 'Leaf');
    this.aborting = signal === undefined ? this.stopping.signal : AbortSignal.any([this.stopping.signal, signal]);
    this.opened = new ShutdownStack(this.clock, (step, problem) => this.logger.error(`Stop: ${step}: ${problem}`));
    const jobs: Ticker[] = [];
    if (segment !== undefined && stores !== undefined) {
      this.segments = new SegmentService(stores.segments, this.clock, segment);
      const { waitMs } = withDefaults(DEFAULT_SEGMENT_MODULE_OPTIONS, segment);
      const { generator } = this.segments;
      const isPaused = (tag: string): boolean => generator.isPaused(tag);
      this.numbers = new Numbers(stores.numbers, this.clock, systemRandom, { waitMs, isPaused });
      const { signal: stopped } = this.stopping;
      this.tagEnds = new TagEnds(stores.tags, this.clock, this.logger, { file: segment.tagEndsFile, signal: stopped });
      this.readers = [watchNumbers(this.numbers, this.clock, this.logger), estimateEnds(this.tagEnds, this.clock)];
      jobs.push(...this.readers, ...segmentJobs(this.segments, this.clock, segment));
    }
    if (snowflake !== undefined && registry !== undefined) {
      this.snowflake = new SnowflakeService(createRegistry(registry), this.clock, snowflake);
      jobs.push(...snowflakeJobs(this.snowflake, this.clock, snowflake, registry.reportMs));
    }
    this.jobs = jobs;
    this.ids = new EmbeddedIdService(this.segments, this.snowflake, this);
    this.probe = new DatabaseProbe(this.clock, stores?.segments);
  }

  /**
   * Starts the runtime; later calls join the first.
   *
   * @throws LeafError when a step fails; the steps before it are undone
   */
  init(): Promise<void> {
    this.started ??= this.run();
    return this.started;
  }

  /** The current status, as plain data. Adds up the counts of all tags: use {@link readiness} for probes. */
  status(): LeafStatus {
    return statusOf(this.sources());
  }

  /** The health of each mode, for probes. Waits for nothing; takes the same time with any number of tags. */
  readiness(): LeafReadiness {
    return readinessOf(this.sources());
  }

  /**
   * Aborts a start under way. Stops the jobs, returns unused IDs, releases the worker ID, and closes the database if
   * {@link Leaf.start} opened it. A failed step is logged, and the next step still runs. Later calls join the first;
   * never rejects.
   */
  stop(): Promise<void> {
    this.stopped ??= this.shutDown();
    return this.stopped;
  }

  private sources(): StatusSources {
    const { segments, numbers, tagEnds, snowflake, probe, clock } = this;
    return { segments, numbers, tagEnds, snowflake, probe, clock, store: this.stores?.segments };
  }

  private async run(): Promise<void> {
    try {
      await unlessAborted(this.begin(), this.aborting);
    } catch (error) {
      await this.opened.close();
      throw error;
    }
  }

  /** Stops before the next step once the start is aborted. */
  private async begin(): Promise<void> {
    const { opened, segments, numbers, snowflake, aborting } = this;
    await this.createTags();
    aborting.throwIfAborted();
    opened.add('end the reads of jobs', STOP_LIMIT_MS, () => this.endReads());
    if (snowflake !== undefined)
      opened.add('release the worker ID', STOP_LIMIT_MS, () => this.releaseWorker(snowflake));
    if (numbers !== undefined) opened.add('end the calls for numbers', STOP_LIMIT_MS, () => numbers.close());
    if (segments !== undefined) {
      opened.add('give unused IDs back', SEGMENT_STOP_LIMIT_MS, () => this.returnIds(segments));
      await segments.start();
      aborting.throwIfAborted();
    }
    await snowflake?.start(segments === undefined);
    aborting.throwIfAborted();
    for (const job of this.jobs) job.start();
  }

  private async createTags(): Promise<void> {
    for (const declared of this.tags) {
      this.aborting.throwIfAborted();
      if (this.stores === undefined) return;
      await createDeclared(this.stores.tags, declared, (message) => this.logger.warn(message));
    }
  }

  private async shutDown(): Promise<void> {
    this.stopping.abort(new LeafError('LEAF_NOT_READY', 'The start was ended by a stop.'));
    await this.started?.catch(() => undefined);
    // The services end the runs under way, within their time limits.
    for (const job of this.jobs) void job.stop();
    await this.opened.close();
    if (this.givenBack.length > 0) this.logger.log(`Stopped: ${this.givenBack.join(', ')}.`);
  }

  /** Waits for the queries of jobs under way: SQLite aborts the process if it is closed during a query. */
  private async endReads(): Promise<void> {
    const ended = Promise.all(this.readers.map((job) => job.stop()));
    await withinDeadline(ended, this.clock.monotonic() + READS_LIMIT_MS, this.clock);
  }

  private async returnIds(segments: SegmentService): Promise<void> {
    const ids = await segments.stop();
    this.givenBack.push(ids === undefined ? 'not all unused IDs returned' : `${ids} unused IDs returned`);
  }

  private async releaseWorker(snowflake: SnowflakeService): Promise<void> {
    const workerId = await snowflake.stop();
    this.givenBack.push(workerId === undefined ? 'no worker ID released' : `worker ID ${workerId} released`);
  }
}

/** Interval between two counts of open numbers, in milliseconds. */
const WATCH_MS = 60_000;

/** Counts the open numbers, for metrics and status. */
function watchNumbers(numbers: Numbers, clock: Clock, logger: LeafLogger): Ticker {
  const watch = async (): Promise<void> => {
    try {
      await numbers.watch();
    } catch (error) {
      logger.warn(`The open numbers of gapless tags could not be counted: ${reasonOf(error)}`);
    }
  };
  return new Ticker('leaf-number-watch', watch, { everyMs: WATCH_MS, atStart: true }, clock);
}

/** Interval between two estimates of when tags run out of IDs, in milliseconds. */
const ENDS_MS = 3_600_000;

function estimateEnds(ends: TagEnds, clock: Clock): Ticker {
  return new Ticker('leaf-tag-ends', () => ends.run(), { everyMs: ENDS_MS, atStart: true }, clock);
}

/** Interval between two saves of the hot tags, in milliseconds. */
const HOT_TAGS_MS = 300_000;

/** Refreshes the tags; saves the hot tags if a file is configured, in case the process is killed. */
function segmentJobs(segments: SegmentService, clock: Clock, options: SegmentModuleOptions): Ticker[] {
  const { refreshMs, hotTagsFile } = withDefaults(DEFAULT_SEGMENT_MODULE_OPTIONS, options);
  const refresh = new Ticker('leaf-tag-refresh', () => segments.generator.refresh.run(), { everyMs: refreshMs }, clock);
  if (hotTagsFile === undefined) return [refresh];
  return [refresh, new Ticker('leaf-hot-tags', () => segments.saveHotTags(), { everyMs: HOT_TAGS_MS }, clock)];
}

/**
 * Extends the lease, and maintains the worker registry. After the jobs have stopped, the generator extends the lease
 * when half of the lease TTL is used.
 */
function snowflakeJobs(
  snowflake: SnowflakeService,
  clock: Clock,
  options: SnowflakeModuleOptions,
  reportMs: number,
): Ticker[] {
  const { maintainMs } = withDefaults(DEFAULT_SNOWFLAKE_MODULE_OPTIONS, options);
  const maintain = { everyMs: maintainMs, atStart: true };
  return [
    new Ticker('leaf-time-report', () => snowflake.reportTime(), { everyMs: reportMs }, clock),
    new Ticker('leaf-registry-maintenance', () => snowflake.maintainRegistry(), maintain, clock),
  ];
}
