import type { DocumentNumber, GaplessSettings, LeafError, NumberAnswer, TransactionStatement } from '@leaf-ids/core';
import {
  type Continuation,
  type JournalEntry,
  type JournalSeal,
  MAX_OPEN_COUNTED,
  type NumberHead,
  type NumberPage,
  type NumberRequest,
  NumberStore,
  type OpenNumbers,
} from '@leaf-ids/core/internal';
import type { SqlParameter, Statement } from '../connections/session';
import type { SqlDatabase } from '../connections/sql-database';
import type { FailoverGuard } from '../failover/failover-guard';
import { changedMeanwhile } from '../stores/alloc-row';
import type { TagDialect } from '../stores/tag-dialect';
import { NumberRows } from './number-rows';
import { type NumberRules, NumberTransaction, type SeenPosition } from './number-transaction';

/** Limit for a transaction of a few thousand rows, in milliseconds. */
const LIMIT_MS = 5000;
/** Limit for making numbers void, in milliseconds. */
const CONTINUE_LIMIT_MS = 60_000;
/** Attempts while the guard acts. */
const ATTEMPTS = 5;
/** Periods whose newest position is remembered. */
const MAX_SEEN = 10_000;

/** The numbers of the gapless tags of one database. */
export class SqlNumberStore extends NumberStore {
  readonly seal: JournalSeal;
  private readonly rows: NumberRows;
  /** Tag and period → the newest end of the journal that was committed or read. */
  private readonly seen = new Map<string, Pick<NumberHead, 'position' | 'continued'>>();

  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: TagDialect,
    private readonly guard: FailoverGuard,
    private readonly rules: NumberRules,
  ) {
    super();
    this.seal = rules.seal;
    this.rows = new NumberRows((sql, parameters = []) => database.run(sql, parameters), dialect);
  }

  settings(tag: string): Promise<GaplessSettings> {
    return this.rows.settings(tag, false);
  }

  async carryOut(
    tag: string,
    settings: GaplessSettings,
    calls: readonly (readonly NumberRequest[])[],
  ): Promise<(NumberAnswer[] | LeafError)[]> {
    const seen = this.seenOf(tag);
    const done = await this.guarded(tag, LIMIT_MS, (transaction) => transaction.carryOut(tag, settings, calls, seen));
    if (this.seen.size > MAX_SEEN) this.seen.clear();
    for (const [period, { position, continued }] of done.heads)
      this.seen.set(placeOf(tag, period), { position, continued });
    return done.answers;
  }

  async carryOutWithin(
    statement: TransactionStatement,
    tag: string,
    settings: GaplessSettings,
    requests: readonly NumberRequest[],
  ): Promise<NumberAnswer[]> {
    const { guard, database, dialect } = this;
    await guard.prepare();
    // Before the lock of the tag, for which the guard would wait.
    const committed: Statement = (sql, parameters = []) => database.run(sql, parameters);
    if ((await guard.epoch(committed, dialect.updated)) === undefined) await guard.follow();
    const done = await this.within(statement, true).carryOut(tag, settings, [requests], this.seenOf(tag));
    if (done === undefined) throw changedMeanwhile(tag);
    if (done.behind.length > 0 && !(await this.isBehind(tag, done.behind))) throw changedMeanwhile(tag);
    // The transaction will be rolled back, and a mark in it as well.
    if (done.behind.length > 0) {
      void database.transaction((own) => this.within(own, false).markLost(tag), LIMIT_MS).catch(() => undefined);
    }
    const [answers] = done.answers;
    if (answers === undefined || answers instanceof Error) throw answers ?? new Error('no answer');
    return answers;
  }

  async continueAfter(tag: string, where: Continuation): Promise<number> {
    const { continued = 0 } = this.seen.get(placeOf(tag, where.period)) ?? {};
    return this.guarded(tag, CONTINUE_LIMIT_MS, (transaction) => transaction.continueAfter(tag, where, continued));
  }

  async find(tag: string, key: string): Promise<DocumentNumber | undefined> {
    return (await this.rows.byKeys(tag, [key], false)).get(key);
  }

  list(tag: string, { period, state, after, limit }: NumberPage): Promise<DocumentNumber[]> {
    const conditions: string[] = [];
    const parameters: SqlParameter[] = [tag];
    if (state !== undefined) conditions.push('state = ?');
    if (state !== undefined) parameters.push(state);
    if (period !== undefined) conditions.push('period = ?');
    if (period !== undefined) parameters.push(period);
    if (after !== undefined) {
      const { number } = this.dialect;
      conditions.push(`(period > ? OR (period = ? AND (number > ${number} OR (number = ${number} AND turn > ?))))`);
      parameters.push(after.period, after.period, after.number, after.number, after.turn);
    }
    const where = conditions.map((condition) => `AND ${condition}`).join(' ');
    return this.rows.numbers(`1 = 1 ${where} ORDER BY period, number, turn LIMIT ${limit}`, parameters);
  }

  journal(tag: string, period: string, after: number, limit: number): Promise<JournalEntry[]> {
    const rest = `period = ? AND position > ? ORDER BY position LIMIT ${limit}`;
    return this.rows.lines(rest, [tag, period, after]);
  }

  linesOf(tag: string, period: string, from: bigint, to: bigint): Promise<JournalEntry[]> {
    const { number } = this.dialect;
    const rest = `period = ? AND number BETWEEN ${number} AND ${number} ORDER BY number, position`;
    return this.rows.lines(rest, [tag, period, from, to]);
  }

  rowsOf(tag: string, period: string, from: bigint, to: bigint, limit: number): Promise<DocumentNumber[]> {
    const { number } = this.dialect;
    const most = limit === Infinity ? '' : `LIMIT ${limit}`;
    const rest = `period = ? AND number BETWEEN ${number} AND ${number} ORDER BY number, turn ${most}`;
    return this.rows.numbers(rest, [tag, period, from, to]);
  }

  async headOf(tag: string, period: string): Promise<NumberHead | undefined> {
    return (await this.rows.heads(tag, [period], false)).get(period);
  }

  async open(): Promise<OpenNumbers[]> {
    // Not in the first transaction of an application, which would wait for itself on SQLite.
    await this.guard.prepare();
    const { text } = this.dialect;
    const tags = await this.database.run<{ biz_tag: string }[]>(
      text("SELECT biz_tag FROM leaf_alloc WHERE ordering = 'gapless'"),
      [],
    );
    const open: OpenNumbers[] = [];
    for (const { biz_tag: tag } of tags) {
      const [counted] = await this.database.run<{ open_count: number | string; oldest: number | string | null }[]>(
        text(`SELECT COUNT(*) AS open_count, MIN(issued_at) AS oldest FROM (SELECT issued_at FROM leaf_number
          WHERE biz_tag = ? AND state = 'issued' LIMIT ${MAX_OPEN_COUNTED}) AS open_numbers`),
        [tag],
      );
      const [journal] = await this.database.run<{ line_count: number | string | null }[]>(
        text('SELECT SUM(position) AS line_count FROM leaf_number_head WHERE biz_tag = ?'),
        [tag],
      );
      const { open_count: count = 0, oldest = null } = counted ?? {};
      open.push({
        ...{ tag, count: Number(count), lines: Number(journal?.line_count ?? 0) },
        oldest: oldest === null ? undefined : Number(oldest),
      });
    }
    return open;
  }

  /** Whether this process has seen more than is committed. A larger transaction may see the database as it was. */
  private async isBehind(tag: string, periods: readonly string[]): Promise<boolean> {
    // Before the rows are read: what is committed meanwhile is not seen too early.
    const seen = this.seenOf(tag, new Map(this.seen));
    const heads = await this.rows.heads(tag, periods, false);
    return periods.some((period) => {
      const { position, continued } = heads.get(period) ?? { position: 0, continued: 0 };
      return position < seen(period, { continued });
    });
  }

  /**
   * What this server saw before the newest continuation of a period does not count. A database with fewer continuations
   * than this server has seen lacks lines of the journal, however long it is.
   */
  private seenOf(tag: string, all = this.seen): SeenPosition {
    return (period, { continued }) => {
      const seen = all.get(placeOf(tag, period));
      if (seen === undefined || seen.continued < continued) return 0;
      return seen.continued > continued ? Infinity : seen.position;
    };
  }

  /** One transaction; once more when the database has lost commits meanwhile, or another server knows a newer one. */
  private async guarded<Result>(
    tag: string,
    limitMs: number,
    work: (transaction: NumberTransaction) => Promise<Result | undefined>,
  ): Promise<Result> {
    const { database, guard } = this;
    await guard.prepare();
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { generation } = guard;
      const result = await database.transaction((statement) => work(this.within(statement, false)), limitMs);
      if (result === undefined) await guard.follow();
      else if (await guard.confirm(generation)) return result;
    }
    throw changedMeanwhile(tag);
  }

  /** @param isShared see {@link NumberTransaction} */
  private within(statement: Statement, isShared: boolean): NumberTransaction {
    return new NumberTransaction(statement, this.dialect, this.guard, this.rules, isShared);
  }
}

function placeOf(tag: string, period: string): string {
  return `${tag}@${period}`;
}
