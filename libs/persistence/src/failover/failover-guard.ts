import type { SqlDatabase, Statement } from '../sql-database';

export interface FailoverOptions {
  /** Steps by which every tag moves forward when a promoted replica is noticed; 0 switches the guard off. */
  readonly gapSteps: number;
  /** Told that the tags were moved forward. */
  readonly onFailover: (message: string) => void;
}

/** What the database says of itself. */
export interface ServerIdentity {
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
  readonly askIdentity: (statement: Statement) => Promise<ServerIdentity>;
  /** server, largest; leaves a record that is there */
  readonly insertRecord: string;
  /** size, size */
  readonly raiseLargest: string;
  readonly lockRecord: string;
  /** server, largest */
  readonly updateRecord: string;
  /** The last tag of a page: tag before the page, rows of the page less one. */
  readonly lastTag: string;
  /** gapSteps, largest, tag before the page, last tag of the page or NULL; not above 2^63 - 1 */
  readonly moveTags: string;
  /** gapSteps, largest; not above 2^63 - 1 */
  readonly moveDeletedTags: string;
}

interface ServerRecord {
  readonly server: string;
  readonly largest_step: number | string;
}

/** Rows that are moved by one statement: few enough that it ends in time. */
const PAGE = 2000;
const MOVE_LIMIT_MS = 60_000;

/**
 * Notices that a replica was promoted that lacks the newest allocations, which it would hand out a second time.
 *
 * The record in `leaf_segment_server` names the database server that ranges were last taken from, and the largest size
 * ever allocated. It is replicated with the rows; an allocation compares both, in its own statement, with the server that
 * carries it out and with its own size. On a promoted replica the servers differ: then, once and in one transaction,
 * every tag moves forward by a safety gap and the record names the new server. Only after that are ranges taken. Likewise
 * a size is recorded before it is first used.
 *
 * The gap is `gapSteps` times the larger of the row's step and the largest size. It covers a replica that is behind by so
 * many allocations of a tag, of sizes that it knows. It cannot cover more, nor a server that becomes the primary again
 * without ever having received the record of the one between.
 */
export class FailoverGuard {
  /** SQL that gives the name of the copy of the data; undefined until it was asked, and while the guard is off. */
  expression: string | undefined;

  private started = false;
  private starting: Promise<void> | undefined;
  private following: Promise<boolean> | undefined;
  /** Recorded by this server. After a failover it may not be any more: that is why allocations compare it, too. */
  private largest = 0;

  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: GuardDialect,
    private readonly options: FailoverOptions,
  ) {}

  /**
   * To be called before an allocation of `size` IDs; has something to do before the first one, and before a size that
   * was never used.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async prepare(size: number): Promise<void> {
    if (!this.started) {
      this.starting ??= this.start().finally(() => (this.starting = undefined));
      await this.starting;
    }
    if (this.expression === undefined || size <= this.largest) return;
    await this.database.run(this.dialect.raiseLargest, [size, size]);
    this.largest = size;
  }

  /**
   * To be called when an allocation of `size` IDs changed no row: moves the tags forward if the server is another one
   * now, and records the size.
   *
   * @returns whether the allocation may be tried again
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async follow(size: number): Promise<boolean> {
    if (this.expression === undefined) return false;
    while (this.following !== undefined) await this.following.catch(() => undefined);
    this.following = this.bringUpToDate(size).finally(() => (this.following = undefined));
    return this.following;
  }

  private async start(): Promise<void> {
    if (this.options.gapSteps > 0) {
      const statement: Statement = (sql, parameters = []) => this.database.run(sql, parameters);
      const { server, expression } = await this.dialect.askIdentity(statement);
      await statement(this.dialect.insertRecord, [server, 1]);
      this.expression = expression;
    }
    this.started = true;
  }

  private async bringUpToDate(size: number): Promise<boolean> {
    const message = await this.database.transaction((statement) => this.amend(statement, size), MOVE_LIMIT_MS);
    if (message !== undefined) this.options.onFailover(message);
    // Whoever has brought it up to date, it is now.
    return true;
  }

  /** @returns what there is to tell */
  private async amend(statement: Statement, size: number): Promise<string | undefined> {
    const { server, expression } = await this.dialect.askIdentity(statement);
    this.expression = expression;
    const [record] = await statement<ServerRecord[]>(this.dialect.lockRecord);
    if (record === undefined) {
      await statement(this.dialect.insertRecord, [server, size]);
      return undefined;
    }
    const known = Number(record.largest_step);
    const largest = Math.max(known, size);
    if (record.server !== server) {
      await this.moveTags(statement, largest);
      await statement(this.dialect.moveDeletedTags, [this.options.gapSteps, largest]);
    }
    if (record.server !== server || size > known) await statement(this.dialect.updateRecord, [server, largest]);
    if (record.server === server) return undefined;
    return `${this.database.description} is on the server ${server} now, after ${record.server}: a replica was promoted, which may lack the newest allocations. Every tag was moved forward by ${this.options.gapSteps} times its step, ${this.options.gapSteps * largest} IDs at least.`;
  }

  /** Page by page, so that no statement takes long, whatever the number of tags. */
  private async moveTags(statement: Statement, largest: number): Promise<void> {
    const { lastTag, moveTags } = this.dialect;
    let before = '';
    for (;;) {
      const [last] = await statement<{ biz_tag: string }[]>(lastTag, [before, PAGE - 1]);
      await statement(moveTags, [this.options.gapSteps, largest, before, last?.biz_tag ?? null]);
      if (last === undefined) return;
      before = last.biz_tag;
    }
  }
}
