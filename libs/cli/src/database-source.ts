import { existsSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import {
  BitLayout,
  type BitLayoutOptions,
  DEFAULT_LAYOUT,
  type IdRange,
  LeafError,
  type NewTag,
  Numbers,
  PeriodFormat,
  type SnowflakeParts,
  SystemClock,
  type TagStore,
} from '@leaf-ids/core';
import { assertTag, jsonOfTag, parseLayout, systemRandom, type TagJson, unknownTag } from '@leaf-ids/core/internal';
import { Leaf, type LeafOptions } from '@leaf-ids/id';
import {
  checkDatabases,
  aloneFault,
  createDatabaseNames,
  createStores,
  createTagStore,
  DEFAULT_FAILOVER_GAP_STEPS,
  LazyDatabase,
  type LeafDataSource,
  type NumberOptions,
  openDatabase,
  parseDatabaseUrl,
  POOL_WORKERS,
  reportText,
  SqlWorkerStore,
} from '@leaf-ids/persistence';
import { DatabaseNumbers } from './database-numbers';
import type { Result, Source, TagList } from './source';

/** How long a worker ID stays reserved after a crash of the command, in milliseconds. */
const LEASE_TTL_MS = 10_000;
/** Longest wait for a number, in milliseconds. */
const NUMBER_WAIT_MS = 10_000;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The database of servers, which may run or not. Creates no tables. */
export class DatabaseSource implements Source {
  readonly numbers = new DatabaseNumbers((act) => this.withNumbers(act));
  private readonly clock = new SystemClock();
  private readonly target: ReturnType<typeof parseDatabaseUrl>;
  private readonly onCloseProblem = (step: string, problem: string): void => this.warn(`${step}: ${problem}`);

  /** @throws LeafError `LEAF_CONFIG_INVALID` */
  constructor(
    private readonly url: string,
    private readonly warn: (text: string) => void,
    private readonly numberOptions: NumberOptions,
    private readonly workersOf: (given: string | undefined) => string | undefined,
  ) {
    this.target = parseDatabaseUrl(url);
    const report = (message: unknown): void => this.warn(String(message));
    Logger.overrideLogger({ log: () => undefined, warn: report, error: report });
  }

  nextIds(tag: string, count: number): Promise<bigint[]> {
    return this.withSegments((ids) => ids.nextIds(tag, count));
  }

  nextRanges(tag: string, count: number): Promise<IdRange[]> {
    return this.withSegments((ids) => ids.nextRanges(tag, count));
  }

  nextTexts(tag: string, count: number, pattern: string): Promise<string[]> {
    return this.withSegments(async (ids) => {
      const format = new PeriodFormat({ reset: await ids.resetOf(tag), pattern });
      return format.formatRanges(await ids.nextRangesInPeriod(tag, count));
    });
  }

  async snowflakes(count: number, given?: string): Promise<bigint[]> {
    const workers = this.workersOf(given);
    if ('file' in this.target) {
      throw unsafe('The worker IDs of an SQLite database are not in the file itself, so this command cannot take one.');
    }
    const { description } = this.target;
    const layout = await this.recordedLayout();
    if (layout === undefined) {
      throw unsafe(
        `The servers of ${description} do not take their worker IDs from a pool in this database, so a snowflake ID of this command might not be unique.`,
      );
    }
    if (!(await this.withPool((pool) => this.isInUse(pool)))) {
      throw unsafe(
        `No server uses the pool of worker IDs in ${description} now. The servers may have moved to another registry, so a snowflake ID of this command might not be unique.`,
      );
    }
    const limit = workers === undefined ? {} : { workers };
    const snowflake = { registry: 'database', layout, leaseTtlMs: LEASE_TTL_MS, ...limit } as const;
    return this.withLeaf({ segment: false, snowflake }, (ids) => ids.snowflakes(count));
  }

  async decode(id: bigint): Promise<SnowflakeParts> {
    return new BitLayout((await this.recordedLayout()) ?? DEFAULT_LAYOUT).decompose(id);
  }

  listTags(after: string | undefined, limit: number): Promise<TagList> {
    return this.withTags(async (store) => {
      const rows = await store.list({ after, limit: limit + 1 });
      const tags = rows.slice(0, limit).map((row) => jsonOfTag(row));
      return { tags, next: rows.length > limit ? (tags.at(-1)?.tag ?? null) : null };
    });
  }

  findTag(tag: string): Promise<TagJson> {
    assertTag(tag);
    return this.withTags(async (store) => {
      const row = await store.find(tag);
      if (row === undefined) throw unknownTag(tag);
      return jsonOfTag(row);
    });
  }

  createTag(tag: NewTag): Promise<TagJson> {
    return this.withTags(async (store) => jsonOfTag(await store.create(tag)));
  }

  async check(): Promise<Result> {
    const report = await checkDatabases({ url: this.url, migrate: false }, this.clock, systemRandom);
    return { text: reportText(report), json: report, failed: !report.ok };
  }

  /** Each method closes what it opens. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Fails at once if the database cannot be used. */
  private async withSegments<T>(act: (ids: Leaf['ids']) => Promise<T>): Promise<T> {
    await this.withTags(() => Promise.resolve());
    return this.withLeaf({}, act);
  }

  private async withLeaf<T>(options: Partial<LeafOptions>, act: (ids: Leaf['ids']) => Promise<T>): Promise<T> {
    const stopping = new AbortController();
    const stop = (signal: NodeJS.Signals): void =>
      stopping.abort(new LeafError('LEAF_NOT_READY', `The command was stopped by ${signal}.`));
    // A stop in between would keep the worker ID reserved. A second signal ends the process.
    for (const signal of SIGNALS) process.once(signal, stop);
    try {
      const leaf = await Leaf.start({ database: this.url, migrate: false, signal: stopping.signal, ...options });
      try {
        return await act(leaf.ids);
      } finally {
        await leaf.stop();
      }
    } finally {
      for (const signal of SIGNALS) process.removeListener(signal, stop);
    }
  }

  private withTags<T>(act: (store: TagStore) => Promise<T>): Promise<T> {
    return this.withDatabase((opened) => act(createTagStore(opened)));
  }

  private withNumbers<T>(act: (numbers: Numbers) => Promise<T>): Promise<T> {
    const { clock, warn, numberOptions } = this;
    return this.withDatabase((opened) => {
      const failover = { gapSteps: DEFAULT_FAILOVER_GAP_STEPS, onFailover: warn };
      const { numbers } = createStores(opened, failover, numberOptions, clock);
      return act(new Numbers(numbers, clock, systemRandom, { waitMs: NUMBER_WAIT_MS }));
    });
  }

  private async withDatabase<T>(act: (opened: LeafDataSource) => Promise<T>): Promise<T> {
    this.assertFile();
    const { target, onCloseProblem } = this;
    const opened = await openDatabase(
      { target, migrate: false, attempts: 1, onCloseProblem },
      this.clock,
      systemRandom,
    );
    try {
      const names = await createDatabaseNames(opened).list();
      if (aloneFault(names) === undefined) return await act(opened);
      throw new LeafError(
        'LEAF_CONFIG_INVALID',
        `The database ${target.description} is one of several (${[...names.keys()].join(', ')}), and a tag of the others must not get IDs from it. Use a server: --url or LEAF_URL.`,
      );
    } finally {
      await opened.destroy();
    }
  }

  /** The layout of the pool of worker IDs in this database; undefined if servers do not use it. */
  private async recordedLayout(): Promise<BitLayoutOptions | undefined> {
    // The worker IDs of an SQLite database are in another place.
    if ('file' in this.target) return undefined;
    const { document } = await this.withPool((pool) => pool.readRegistry());
    return document?.strategy === 'database' ? parseLayout(document.layout) : undefined;
  }

  /** Whether a worker ID is held. If servers have moved to another place, the document of the pool may still exist. */
  private async isInUse(pool: SqlWorkerStore): Promise<boolean> {
    const now = this.clock.now();
    return (await pool.list()).some(({ record }) => !record.free && record.ceiling > now);
  }

  private async withPool<T>(read: (pool: SqlWorkerStore) => Promise<T>): Promise<T> {
    const { target, onCloseProblem } = this;
    const database = new LazyDatabase({ target, migrate: false, onCloseProblem }, this.clock, systemRandom);
    try {
      return await read(new SqlWorkerStore(database, POOL_WORKERS));
    } finally {
      await database.close();
    }
  }

  /** SQLite would create the file. */
  private assertFile(): void {
    const { target } = this;
    if (!('file' in target) || (target.file !== undefined && existsSync(target.file))) return;
    throw new LeafError(
      'LEAF_DATABASE_UNUSABLE',
      `The database ${target.description} does not exist. A server creates it at its first start; correct --database or LEAF_DATABASE_URL.`,
    );
  }
}

function unsafe(reason: string): LeafError {
  return new LeafError('LEAF_CONFIG_INVALID', `${reason} Take the snowflake ID from a server: --url or LEAF_URL.`);
}
