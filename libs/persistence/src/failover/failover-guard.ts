import { MAX_RANGE_SIZE } from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS } from '@leaf-ids/core/internal';
import type { SqlDatabase, Statement } from '../connections/sql-database';

export interface FailoverOptions {
  /** Number of lost allocations of a tag that a failover covers; 0 disables the guard. */
  readonly gapSteps: number;
  /** The largest dynamic step of this server; the default is that of `DEFAULT_SEGMENT_OPTIONS`. */
  readonly maxStep?: number;
  /** Called when the tags were moved forward. */
  readonly onFailover: (message: string) => void;
}

/** Identifies the copy of the data that a connection uses. */
export interface DatabaseIdentity {
  /**
   * The name of the copy: that of the cluster if each node has all commits of the others; that of the timeline if a
   * promotion starts a new one; otherwise that of the server.
   */
  readonly server: string;
  /**
   * SQL that evaluates to `server` on the server that executes it; to NULL when the role of that server has changed,
   * for example because it left its cluster.
   */
  readonly expression: string;
}

/** The statements of the guard in one dialect. The comments list the parameters in order. */
export interface GuardDialect {
  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` for a server outside its configured cluster */
  readonly askIdentity: (statement: Statement) => Promise<DatabaseIdentity>;
  /** server, largest size; keeps the server of an existing record, and raises its size */
  readonly insertRecord: string;
  readonly lockRecord: string;
  /** server */
  readonly updateRecord: string;
  /** Selects the last tag of a page: tag before the page, rows of the page minus one. */
  readonly lastTag: string;
  /**
   * gapSteps, largest size, tag before the page, last tag of the page or NULL. The result is capped at 2^63 - 1; for
   * periods and tags with periods, at the ID after `max`.
   */
  readonly moveTags: string;
  /** gapSteps, largest size; the result is capped at 2^63 - 1 */
  readonly moveDeletedTags: string;
}

interface ServerRecord {
  readonly server: string;
}

/** Rows that one statement moves: few enough to finish in time. */
const PAGE = 2000;
const MOVE_LIMIT_MS = 60_000;

/**
 * Detects the promotion of a replica that lacks the newest allocations, and would repeat them.
 *
 * The record in `leaf_segment_server` names the database server of the last allocation. It is replicated with the rows.
 * Each allocation compares the record, in the same statement, with the server that executes it. On a promoted replica,
 * the servers differ or the record is missing. Then one transaction moves every tag forward by a safety gap and records
 * the new server, before any further range is allocated.
 *
 * The gap is `gapSteps` times the largest possible allocation of the tag: the maximum of its step, its `max_step`, its
 * block, the largest dynamic step of this server and the largest range of the API. It covers a replica that lags by
 * `gapSteps` allocations of a tag. It does not cover a longer lag, nor a server that becomes the primary again without
 * ever having received the record of the primary in between.
 *
 * Servers of the previous version also compare their sizes with the column `largest_step`, and use it to move the tags.
 * It is raised once, to the largest range of this server.
 */
export class FailoverGuard {
  /** {@link DatabaseIdentity.expression}; undefined before {@link prepare}, and while the guard is disabled. */
  expression: string | undefined;

  private readonly largest: number;
  private started = false;
  private starting: Promise<void> | undefined;
  private following: Promise<void> | undefined;

  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: GuardDialect,
    private readonly options: FailoverOptions,
  ) {
    this.largest = Math.max(options.maxStep ?? DEFAULT_SEGMENT_OPTIONS.maxStep, MAX_RANGE_SIZE);
  }

  /**
   * Call before each allocation; acts only before the first one.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async prepare(): Promise<void> {
    if (this.started) return;
    this.starting ??= this.start().finally(() => (this.starting = undefined));
    await this.starting;
  }

  /**
   * Call when an allocation changed no row: moves the tags forward if the server has changed.
   *
   * @returns whether to retry the allocation
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async follow(): Promise<boolean> {
    if (this.expression === undefined) return false;
    this.following ??= this.bringUpToDate().finally(() => (this.following = undefined));
    await this.following;
    return true;
  }

  private async start(): Promise<void> {
    if (this.options.gapSteps > 0) {
      const statement: Statement = (sql, parameters = []) => this.database.run(sql, parameters);
      const { server, expression } = await this.dialect.askIdentity(statement);
      await statement(this.dialect.insertRecord, [server, this.largest]);
      this.expression = expression;
    }
    this.started = true;
  }

  private async bringUpToDate(): Promise<void> {
    const reason = await this.database.transaction((statement) => this.moveOn(statement), MOVE_LIMIT_MS);
    if (reason === undefined) return;
    this.options.onFailover(
      `${reason}, which may lack the newest allocations. Every tag was moved forward by ${this.options.gapSteps} times its step, at least ${this.options.gapSteps * this.largest} IDs.`,
    );
  }

  /** @returns why the tags were moved; undefined if they were not */
  private async moveOn(statement: Statement): Promise<string | undefined> {
    const { server, expression } = await this.dialect.askIdentity(statement);
    this.expression = expression;
    const [record] = await statement<ServerRecord[]>(this.dialect.lockRecord);
    if (record?.server === server) return undefined;
    await this.moveTags(statement);
    await statement(this.dialect.moveDeletedTags, [this.options.gapSteps, this.largest]);
    const { description } = this.database;
    if (record === undefined) {
      await statement(this.dialect.insertRecord, [server, this.largest]);
      return `${description} lacks the record of its server in leaf_segment_server: a replica was promoted`;
    }
    await statement(this.dialect.updateRecord, [server]);
    return `${description} moved from server ${record.server} to server ${server}: a replica was promoted`;
  }

  /** Moves the tags page by page to keep each statement short. */
  private async moveTags(statement: Statement): Promise<void> {
    const { lastTag, moveTags } = this.dialect;
    let before = '';
    for (;;) {
      const [last] = await statement<{ biz_tag: string }[]>(lastTag, [before, PAGE - 1]);
      await statement(moveTags, [this.options.gapSteps, this.largest, before, last?.biz_tag ?? null]);
      if (last === undefined) return;
      before = last.biz_tag;
    }
  }
}
