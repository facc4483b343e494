import { DEFAULT_SEGMENT_OPTIONS, SegmentIdGenerator, systemRandom } from '@leaf-ids/core/internal';
import {
  checkDatabases,
  moveTags,
  type MoveTagsOptions,
  parseDatabaseUrl,
  type RemovalReport,
  removeDatabase,
  ShardRouter,
  type TagMoveReport,
} from '@leaf-ids/persistence';
import { type ShardedDatabases, shardedDatabases } from '../servers/shards';
import { clock, connect, PATIENT } from './sql-stores';

export type Urls = Readonly<Record<'a' | 'b' | 'c', string>>;

export interface Failure {
  readonly create: readonly string[];
  readonly drop: string;
}

export interface ThreeDatabases {
  readonly urls: Urls;
  /** A trigger that fails every statement of its kind, such as `UPDATE ON leaf_alloc`. */
  readonly failing: (database: keyof Urls, event: string) => Failure;
  readonly cleanUp: () => Promise<void>;
}

/** {@link ThreeDatabases.failing} on SQLite. */
export function failingFile(event: string): Failure {
  return {
    create: [`CREATE TRIGGER failing BEFORE ${event} BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END`],
    drop: 'DROP TRIGGER failing',
  };
}

/** {@link ThreeDatabases.failing} on MySQL and MariaDB. */
export function failingMysql(event: string): Failure {
  return {
    create: [
      `CREATE TRIGGER failing BEFORE ${event} FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the disk is on fire'`,
    ],
    drop: 'DROP TRIGGER failing',
  };
}

/** {@link ThreeDatabases.failing} on PostgreSQL. */
export function failingPostgres(event: string): Failure {
  return {
    create: [
      `CREATE FUNCTION failing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the disk is on fire'; END $$`,
      `CREATE TRIGGER failing BEFORE ${event} FOR EACH ROW EXECUTE FUNCTION failing()`,
    ],
    drop: 'DROP FUNCTION failing CASCADE',
  };
}

export const ROUTER = new ShardRouter(['a', 'b', 'c'], {});
/** Of the list without `c`. */
export const SHORT = new ShardRouter(['a', 'b'], {});

/** A tag that belongs to `c` and, without it, to `next`. */
export function tagOf(next: string, prefix = 'order'): string {
  const names = Array.from({ length: 1000 }, (_, n) => `${prefix}${n}`);
  return names.find((tag) => ROUTER.shardOf(tag) === 'c' && SHORT.shardOf(tag) === next)!;
}

/** Assigns the tags of `c` elsewhere, as the list without it would. */
export const PINNED = Object.fromEntries(
  ['order', 'strict'].flatMap((prefix) => ['a', 'b'].map((next) => [tagOf(next, prefix), next])),
);

/** Opens the databases for each test of the block, and closes what the test opened. */
export class ThreeDatabasesRig {
  private databases!: ThreeDatabases;
  private readonly opened: (() => Promise<unknown>)[] = [];

  constructor(open: () => Promise<ThreeDatabases>) {
    beforeEach(async () => (this.databases = await open()));
    afterEach(async () => {
      for (let close = this.opened.pop(); close !== undefined; close = this.opened.pop()) await close();
      await this.databases.cleanUp();
    });
  }

  get urls(): Urls {
    return this.databases.urls;
  }

  closeLater(close: () => Promise<unknown>): void {
    this.opened.push(close);
  }

  readonly failing: ThreeDatabases['failing'] = (database, event) => this.databases.failing(database, event);

  readonly startServer = async (
    names: readonly (keyof Urls)[] = ['a', 'b', 'c'],
    assigned: Readonly<Record<string, string>> = {},
  ): Promise<ShardedDatabases> => {
    const databases = shardedDatabases(this.listOf(names), assigned, PATIENT);
    this.opened.push(() => databases.shards.close());
    await databases.shards.start();
    return databases;
  };

  readonly generatorOf = ({ segments }: ShardedDatabases): SegmentIdGenerator => {
    const ignore = (): void => undefined;
    const events = { onLoadFailed: ignore, onRefreshFailed: ignore };
    // A machine that stands still for a moment is no outage.
    const options = { ...DEFAULT_SEGMENT_OPTIONS, waitMs: PATIENT.queryMs };
    const generator = new SegmentIdGenerator(segments, clock, systemRandom, options, events);
    this.opened.push(() => generator.close().catch(ignore));
    return generator;
  };

  readonly execute = async <Rows>(database: keyof Urls, sql: string): Promise<Rows> => {
    const dataSource = await connect(parseDatabaseUrl(this.urls[database]));
    try {
      return await dataSource.query<Rows>(sql);
    } finally {
      await dataSource.destroy();
    }
  };

  readonly remove = (options: { dryRun?: boolean } = {}): Promise<RemovalReport> =>
    removeDatabase({ shards: { databases: this.urls }, database: 'c', dryRun: false, ...options }, clock, systemRandom);

  readonly move = (
    tags: Readonly<Record<string, string>>,
    options: Partial<MoveTagsOptions> = {},
  ): Promise<TagMoveReport> =>
    moveTags({ shards: { databases: this.urls, tags }, dryRun: false, ...options }, clock, systemRandom);

  readonly check = (
    names: readonly (keyof Urls)[],
    tags: Readonly<Record<string, string>> = {},
  ): ReturnType<typeof checkDatabases> =>
    checkDatabases({ shards: { databases: this.listOf(names), tags }, migrate: false }, clock, systemRandom);

  private listOf(names: readonly (keyof Urls)[]): Record<string, string> {
    return Object.fromEntries(names.map((each) => [each, this.urls[each]]));
  }
}
