import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock, SegmentStore } from '@leaf-ids/core';
import {
  assertOptions,
  DEFAULT_HOT_TAGS,
  HotTags,
  isTag,
  object,
  PeriodicTask,
  reasonOf,
  SegmentIdGenerator,
  systemRandom,
  TAG_RULE,
  withDefaults,
  withinDeadline,
  writeDurably,
  callback,
  DEFAULT_SEGMENT_OPTIONS,
  milliseconds,
  required,
  type Rules,
  SEGMENT_RULES,
  type SegmentOptions,
  text,
} from '@leaf-ids/core/internal';
import {
  type LeafLogger,
  loggerOf,
  type LoggerOption,
  loggerRule,
  type PersistenceModuleOptions,
  persistenceRule,
} from '@leaf-ids/persistence';

/** Omitted options have their defaults. */
export interface SegmentModuleOptions extends Partial<SegmentOptions>, LoggerOption {
  readonly database: PersistenceModuleOptions;
  /** Time between two tag refreshes, in milliseconds; 60,000 by default. */
  readonly refreshMs?: number;
  /** File for the tags used in the last day, which the next start preloads. If omitted, they are not saved. */
  readonly hotTagsFile?: string;
  /** File for the positions of tags, from which their ends are estimated. If omitted, a restart forgets them. */
  readonly tagEndsFile?: string;
  /** Wraps the store of the segments, for example to trace its calls. */
  readonly wrapStore?: (store: SegmentStore) => SegmentStore;
}

export const DEFAULT_SEGMENT_MODULE_OPTIONS = { ...DEFAULT_SEGMENT_OPTIONS, refreshMs: 60_000 };

export const SEGMENT_MODULE_RULES: Rules<SegmentModuleOptions> = {
  ...SEGMENT_RULES,
  database: required(persistenceRule),
  refreshMs: milliseconds(1),
  hotTagsFile: text,
  tagEndsFile: text,
  wrapStore: callback,
  logger: loggerRule,
};

/** Time limit for the give-back at the stop, after which the connection closes, in milliseconds. */
const CLOSE_LIMIT_MS = 5000;
/** Time limit for saving the hot tags before the give-back, in milliseconds. */
const SAVE_LIMIT_MS = 1000;
/** Time limit for preloading hot tags at a start, in milliseconds. */
const PRELOAD_LIMIT_MS = 2000;

/** Time limit of {@link SegmentService.stop}, in milliseconds. */
export const SEGMENT_STOP_LIMIT_MS = SAVE_LIMIT_MS + CLOSE_LIMIT_MS;

/** Segment mode of a runtime: reads the tags at the start, and returns unused IDs at the stop. */
export class SegmentService {
  /** Issues the IDs. */
  readonly generator: SegmentIdGenerator;

  private readonly logger: LeafLogger;
  private readonly hotTags: HotTags;
  private readonly hotTagsFile: string | undefined;
  private readonly hotTagsSave: PeriodicTask;
  private stopped: Promise<number | undefined> | undefined;

  /** @throws LeafError `LEAF_CONFIG_INVALID` that lists all invalid options */
  constructor(
    given: SegmentStore,
    private readonly clock: Clock,
    options: SegmentModuleOptions,
  ) {
    assertOptions('segment mode', object(SEGMENT_MODULE_RULES), options);
    this.logger = loggerOf(options, 'SegmentService');
    const store = options.wrapStore?.(given) ?? given;
    const resolved = withDefaults(DEFAULT_SEGMENT_MODULE_OPTIONS, options);
    this.generator = new SegmentIdGenerator(store, clock, systemRandom, resolved, {
      onLoadFailed: (tag, error) => this.logger.warn(`Cannot load a segment of tag "${tag}": ${reasonOf(error)}`),
      onRefreshFailed: (error) => {
        this.logger.warn(`The tag refresh failed; the known tags stay in use: ${reasonOf(error)}`);
      },
      onUnserved: (name) =>
        this.logger.warn(
          `The row ${JSON.stringify(name)} in leaf_alloc is not served: a tag has ${TAG_RULE}. Rename the row or delete it.`,
        ),
    });
    this.hotTags = new HotTags(clock, DEFAULT_HOT_TAGS);
    this.hotTagsFile = options.hotTagsFile;
    this.hotTagsSave = new PeriodicTask(
      'hot-tags',
      () => this.writeHotTags(),
      clock,
      (error) => {
        this.logger.warn(`Cannot save the list of hot tags; the next start does not preload them: ${reasonOf(error)}`);
      },
    );
  }

  /**
   * Reads the tags and preloads the hot ones. Never rejects: if the database is down, tags are looked up at their first
   * call.
   */
  async start(): Promise<void> {
    await this.generator.refresh.run();
    await this.preloadHotTags();
  }

  /** Saves the hot tags for the next start; joins a save in progress. Never rejects. */
  saveHotTags(): Promise<void> {
    return this.hotTagsSave.run();
  }

  /**
   * Saves the hot tags and returns unissued IDs to the database. Resolves with the number of IDs returned; with undefined
   * if not all could be returned. Later calls join the first one.
   */
  stop(): Promise<number | undefined> {
    this.stopped ??= this.close();
    return this.stopped;
  }

  private async preloadHotTags(): Promise<void> {
    if (this.hotTagsFile === undefined) return;
    this.hotTags.restore(await readHotTags(this.hotTagsFile));
    const tags = this.hotTags.list().map(([tag]) => tag);
    const begun = await this.generator.preload(tags, PRELOAD_LIMIT_MS);
    if (begun > 0) this.logger.log(`Preloaded ${begun} of the ${tags.length} tags used in the last day.`);
  }

  private async writeHotTags(): Promise<void> {
    if (this.hotTagsFile === undefined) return;
    await this.hotTags.observe((see) => this.generator.survey(see));
    await writeHotTags(this.hotTagsFile, this.hotTags.list());
  }

  private async close(): Promise<number | undefined> {
    await this.saveHotTags();
    let returned: number | undefined;
    const closing = this.generator.close().then((ids) => (returned = ids));
    try {
      const inTime = await withinDeadline(closing, this.clock.monotonic() + CLOSE_LIMIT_MS, this.clock);
      if (!inTime) this.logger.warn(`Not all unused IDs were returned within ${CLOSE_LIMIT_MS} ms; they become gaps.`);
    } catch (error) {
      this.logger.warn(`Not all unused IDs were returned; they become gaps: ${reasonOf(error)}`);
    }
    return returned;
  }
}

/** Reads the saved hot tags. A missing, incomplete or foreign file counts as empty: the file only speeds up a start. */
async function readHotTags(path: string): Promise<[string, number][]> {
  try {
    const tags: unknown = JSON.parse(await readFile(path, 'utf8'));
    return Object.entries(tags as Record<string, unknown>).filter(
      (entry): entry is [string, number] => isTag(entry[0]) && typeof entry[1] === 'number',
    );
  } catch {
    return [];
  }
}

/** `{"order":1732000000000}`: each tag with the time of its last use, in Unix milliseconds. */
async function writeHotTags(path: string, tags: readonly (readonly [string, number])[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeDurably(path, `${JSON.stringify(Object.fromEntries(tags))}\n`);
}
