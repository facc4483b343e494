import type { SqlDatabase, Statement } from '../sql-database';

export interface FailoverOptions {
  /** Steps by which every tag moves forward when a promoted replica is noticed; 0 switches the guard off. */
  readonly gapSteps: number;
  /** Told that the tags were moved forward. */
  readonly onFailover: (message: string) => void;
}

/** What the database says of itself. */
export interface ServerIdentity {
  /** Differs from server to server, or, where a promotion makes a new history, from history to history. */
  readonly server: string;
  /** SQL that gives `server` on the server that carries it out. */
  readonly expression: string;
  /** Every node holds what was committed on any other: there is nothing to guard against. */
  readonly multiPrimary: boolean;
}

/** How a dialect writes the statements of the guard; their parameters in this order. */
export interface GuardDialect {
  readonly askIdentity: (statement: Statement) => Promise<ServerIdentity>;
  /** server; leaves a record that is there */
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
 * The record in `leaf_segment_server` names the database server that ranges were last taken from. It is replicated with
 * the rows; an allocation compares it, in its own statement, with the server that carries it out. On a promoted replica
 * the two differ: then, once and in one transaction, every tag moves forward by a safety gap and the record names the
 * new server. Only after that are ranges taken.
 *
 * The gap is `gapSteps` times the larger of the row's step and the largest size ever allocated, which is recorded before
 * it is used. It covers a replica that is behind by so many allocations of a tag. It cannot cover more, nor a server
 * that becomes the primary again without ever having received the record of the one between.
 */
export class FailoverGuard {
  /** SQL that gives the name of the server; undefined while, and where, there is nothing to compare. */
  expression: string | undefined;

  private started = false;
  private starting: Promise<void> | undefined;
  private following: Promise<boolean> | undefined;
  /** As far as it is recorded. */
  private largest = 0;

  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: GuardDialect,
    private readonly options: FailoverOptions,
  ) {}

  /**
   * To be called before an allocation of `size` IDs.
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
    this.largest = Math.max(this.largest, size);
  }

  /**
   * To be called when an allocation changed no row: moves the tags forward if the server is another one now.
   *
   * @returns whether the allocation may be tried again
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  follow(): Promise<boolean> {
    if (this.expression === undefined) return Promise.resolve(false);
    this.following ??= this.database
      .transaction((statement) => this.moveForward(statement), MOVE_LIMIT_MS)
      .finally(() => (this.following = undefined));
    return this.following;
  }

  private async start(): Promise<void> {
    if (this.options.gapSteps > 0) {
      const statement: Statement = (sql, parameters = []) => this.database.run(sql, parameters);
      const { server, expression, multiPrimary } = await this.dialect.askIdentity(statement);
      if (!multiPrimary) {
        await statement(this.dialect.insertRecord, [server]);
        this.expression = expression;
      }
    }
    this.started = true;
  }

  private async moveForward(statement: Statement): Promise<boolean> {
    const { server } = await this.dialect.askIdentity(statement);
    const [record] = await statement<ServerRecord[]>(this.dialect.lockRecord);
    if (record === undefined) {
      await statement(this.dialect.insertRecord, [server]);
    } else if (record.server !== server) {
      const largest = Math.max(Number(record.largest_step), this.largest);
      await this.moveTags(statement, largest);
      await statement(this.dialect.moveDeletedTags, [this.options.gapSteps, largest]);
      await statement(this.dialect.updateRecord, [server, largest]);
      this.options.onFailover(
        `${this.database.description} is on the server ${server} now, after ${record.server}: a replica was promoted, which may lack the newest allocations. Every tag was moved forward by ${this.options.gapSteps} times its step, ${this.options.gapSteps * largest} IDs at least.`,
      );
    }
    // Whoever moved the tags, it is done.
    return true;
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
