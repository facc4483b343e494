import { DEFAULT_SEGMENT_OPTIONS, MAX_RANGE_SIZE } from '@leaf-ids/core';
import type { SqlDatabase, Statement } from '../connections/sql-database';

export interface FailoverOptions {
  /** Lost allocations of a tag that are covered when a promoted replica is noticed; 0 switches the guard off. */
  readonly gapSteps: number;
  /** The largest dynamic step of this server; that of `DEFAULT_SEGMENT_OPTIONS` when left out. */
  readonly maxStep?: number;
  /** Told that the tags were moved forward. */
  readonly onFailover: (message: string) => void;
}

/** What the database says of itself. */
export interface DatabaseIdentity {
  /**
   * The name of the copy of the data: of the cluster where each node has what was committed on any other, else of the
   * server, or, where a promotion makes a new history, of the history.
   */
  readonly server: string;
  /**
   * SQL that gives `server` on the server that carries it out; NULL when that server is not what it was when it was
   * asked, for example outside of its cluster.
   */
  readonly expression: string;
}

/** How a dialect writes the statements of the guard; their parameters in this order. */
export interface GuardDialect {
  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` for a server outside of the cluster that it is configured for */
  readonly askIdentity: (statement: Statement) => Promise<DatabaseIdentity>;
  /** server, largest size; leaves the server of a record that is there, and raises its size */
  readonly insertRecord: string;
  readonly lockRecord: string;
  /** server */
  readonly updateRecord: string;
  /** The last tag of a page: tag before the page, rows of the page less one. */
  readonly lastTag: string;
  /**
   * gapSteps, largest size, tag before the page, last tag of the page or NULL; not above 2^63 - 1, and of periods and tags
   * that have them not above the one after `max`
   */
  readonly moveTags: string;
  /** gapSteps, largest size; not above 2^63 - 1 */
  readonly moveDeletedTags: string;
}

interface ServerRecord {
  readonly server: string;
}

/** Rows that are moved by one statement: few enough that it ends in time. */
const PAGE = 2000;
const MOVE_LIMIT_MS = 60_000;

/**
 * Notices that a replica was promoted that lacks the newest allocations, which it would hand out a second time.
 *
 * The record in `leaf_segment_server` names the database server that ranges were last taken from. It is replicated with
 * the rows; an allocation compares it, in its own statement, with the server that carries it out. On a promoted replica
 * the servers differ, or the record is gone: then, once and in one transaction, every tag moves forward by a safety gap
 * and the record names the new server. Only after that are ranges taken.
 *
 * The gap is `gapSteps` times the largest range that any allocation of the tag can have taken: its step, its largest
 * step, its block, the largest dynamic step of this server or the largest range of the API. It covers a replica that is
 * behind by so many allocations of a tag. It cannot cover more, nor a server that becomes the primary again without ever
 * having received the record of the one between.
 *
 * Servers of the version before also compare their sizes with the column `largest_step`, and go by it when they move the
 * tags: it is raised once, to the largest range of this server.
 */
export class FailoverGuard {
  /** SQL that gives the name of the copy of the data; undefined until it was asked, and while the guard is off. */
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
   * To be called before an allocation; has something to do before the first one.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async prepare(): Promise<void> {
    if (this.started) return;
    this.starting ??= this.start().finally(() => (this.starting = undefined));
    await this.starting;
  }

  /**
   * To be called when an allocation changed no row: moves the tags forward if the server is another one now.
   *
   * @returns whether the allocation may be tried again
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
      `${reason}, which may lack the newest allocations. Every tag was moved forward by ${this.options.gapSteps} times its step, ${this.options.gapSteps * this.largest} IDs at least.`,
    );
  }

  /** @returns why the tags were moved; undefined when they were not */
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
      return `${description} has lost the record of its server in leaf_segment_server: a replica was promoted`;
    }
    await statement(this.dialect.updateRecord, [server]);
    return `${description} is on the server ${server} now, after ${record.server}: a replica was promoted`;
  }

  /** Page by page, so that no statement takes long, whatever the number of tags. */
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
