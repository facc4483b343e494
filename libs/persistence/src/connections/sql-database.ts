import type { DataSource } from 'typeorm';
import { type Clock, LeafError, messageOf, withinDeadline } from '@leaf-ids/core';
import { ConnectionLine } from './connection-line';
import { ConnectionSource, type ConnectionSourceOptions } from './connection-source';
import type { Session, SqlParameter, Statement } from './session';
import { isOfConnection, NoAnswer } from './no-answer';
import type { DatabaseFault } from './database-faults';

export type { SqlParameter, Statement } from './session';

export interface SqlStatement {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
}

export interface SqlDatabaseOptions extends ConnectionSourceOptions {
  /** How long a call may take, its wait for a connection included, in milliseconds. */
  readonly limitMs: number;
  /** Connections at most. */
  readonly connections: number;
}

/**
 * What of a call is sent again: `refused`: what the server has said to have rolled back; `unanswered`: also what it has not
 * answered, which may be carried out twice then.
 */
type Repeat = 'refused' | 'unanswered';

interface Use {
  session: Session | undefined;
}

/** Tries of what the database has rolled back, or on connections that turned out to be dead. */
const ATTEMPTS = 4;
/** Before what an SQLite file refuses, since another process writes to it, is tried again, in milliseconds. */
const BUSY_MS = 10;
/** Share of the time left that is kept for a new connection, when one that was not used for a while is dead. */
const COLD_SHARE = 0.4;
/** No session waits longer for a locked row, in milliseconds. */
const LOCK_WAIT_MS = 1000;
const SELECT = /^\s*SELECT\b/i;

/**
 * One database, as the stores use it: every call ends in time, every fault is told as `LEAF_STORE_UNAVAILABLE`. Each
 * statement runs on a connection that belongs to its caller until it is done. A connection that did not answer, whose
 * rollback failed or whose server takes no writes is never given to anybody else, nor is any that is as old; the call
 * goes on with a new one while it has time left. What is late is not sent.
 */
export class SqlDatabase {
  private readonly line: ConnectionLine;
  private readonly source: ConnectionSource;

  /**
   * @param description the database as an operator knows it, without secrets
   */
  constructor(
    dataSource: DataSource,
    readonly description: string,
    private readonly clock: Clock,
    private readonly options: SqlDatabaseOptions,
  ) {
    this.line = new ConnectionLine(options.connections, clock);
    this.source = new ConnectionSource(dataSource, description, clock, options);
  }

  /** The most that this database may have open. */
  get connections(): number {
    return this.options.connections;
  }

  /** Between statements of one long task: SQLite answers without a turn of the event loop, and requests would wait. */
  letOthersPass(): Promise<void> {
    return this.clock.sleep(0);
  }

  /**
   * Makes sure that the database keeps what it confirms.
   *
   * @throws LeafError `LEAF_DATABASE_UNUSABLE` naming the setting; what the driver throws
   */
  async assertDurable(): Promise<void> {
    const deadline = this.deadline(this.options.limitMs);
    await this.attempt(deadline, () => Promise.resolve(), { session: undefined }, 'refused');
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE`; a statement that was sent counts as carried out */
  run<Result>(sql: string, parameters: SqlParameter[]): Promise<Result> {
    return this.execute(sql, parameters, 'unanswered');
  }

  /**
   * As {@link run}, for a statement that must not be carried out twice: what was sent without an answer is given up.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  runOnce<Result>(sql: string, parameters: SqlParameter[]): Promise<Result> {
    return this.execute(sql, parameters, 'refused');
  }

  /**
   * Sends statements together, in one round trip; returns the answer of each. They are no transaction. MySQL only.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`; all that were sent count as carried out
   */
  runTogether(statements: readonly SqlStatement[], repeat: Repeat = 'unanswered'): Promise<readonly unknown[]> {
    const sql = statements.map((statement) => statement.sql).join('; ');
    const parameters = statements.flatMap((statement) => statement.parameters);
    return this.execute(sql, parameters, repeat);
  }

  /**
   * Runs `work` in one transaction.
   *
   * @param limitMs how long all of it may take, in milliseconds
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`, or what `work` throws when that is a LeafError
   */
  transaction<Result>(work: (statement: Statement) => Promise<Result>, limitMs: number): Promise<Result> {
    return this.withConnection(limitMs, (session) => this.inTransaction(session, work), 'refused');
  }

  private execute<Result>(sql: string, parameters: SqlParameter[], repeat: Repeat): Promise<Result> {
    const work = (query: Statement): Promise<Result> => query<Result>(sql, parameters);
    // A write of its own may find the file busy, which a statement that is prepared must not: see Session.control.
    return this.options.dialect.isFile && !SELECT.test(sql)
      ? this.transaction(work, this.options.limitMs)
      : this.withConnection(
          this.options.limitMs,
          (session) => {
            session.isChanging = true;
            return work(session.query);
          },
          repeat,
        );
  }

  private async withConnection<Result>(
    limitMs: number,
    work: (session: Session) => Promise<Result>,
    repeat: Repeat,
  ): Promise<Result> {
    const deadline = this.deadline(limitMs);
    for (let attempt = 1; ; attempt++) {
      const use: Use = { session: undefined };
      try {
        return await this.attempt(deadline, work, use, repeat);
      } catch (error) {
        if (!this.mayRepeat(error, use, repeat) || !this.hasTime(error, attempt, deadline)) throw this.told(error);
        if (this.options.dialect.faultOf(error)?.busy === true) await this.clock.sleep(BUSY_MS);
      }
    }
  }

  private async attempt<Result>(
    deadline: number,
    work: (session: Session) => Promise<Result>,
    use: Use,
    repeat: Repeat,
  ): Promise<Result> {
    const { line, source, clock } = this;
    if (!(await line.enter(deadline))) throw new Error('no connection was free in time; nothing was sent');
    const opening = source.open(deadline);
    let faulty = false;
    try {
      if (!(await withinDeadline(opening, deadline, clock))) throw new NoAnswer(this.options.limitMs);
      const session = await opening;
      use.session = session;
      const left = deadline - clock.monotonic();
      if (left <= 0) throw new Error('no connection was free in time; nothing was sent');
      // One that has died while nobody used it is replaced in time.
      const isDoubtful = session.cold && left > LOCK_WAIT_MS;
      if (isDoubtful && repeat === 'refused') await this.probe(session, left * COLD_SHARE);
      const until = isDoubtful && repeat === 'unanswered' ? deadline - left * COLD_SHARE : deadline;
      const result = work(session);
      if (await withinDeadline(result, until, clock)) return await result;
      throw new NoAnswer(Math.round(left));
    } catch (error) {
      faulty = isOfConnection(error, this.options.dialect);
      throw error;
    } finally {
      // A connection that is still being opened keeps its place until it is there.
      const closed = opening.then((session) => source.close(session, faulty && use.session !== undefined));
      void closed.catch(() => undefined).then(() => line.leave());
    }
  }

  /** Before work that may not be sent twice. */
  private async probe(session: Session, limitMs: number): Promise<void> {
    if (await withinDeadline(session.query('SELECT 1'), this.deadline(limitMs), this.clock)) return;
    throw new NoAnswer(Math.round(limitMs));
  }

  private async inTransaction<Result>(
    session: Session,
    work: (statement: Statement) => Promise<Result>,
  ): Promise<Result> {
    const { dialect } = this.options;
    // Left over from a rollback that failed; a server's connection would have been ended.
    if (session.inTransaction) await session.control('ROLLBACK');
    await session.control(dialect.isFile ? 'BEGIN IMMEDIATE' : 'BEGIN');
    session.isChanging = true;
    try {
      const result = await work(session.query);
      await session.control('COMMIT');
      return result;
    } catch (error) {
      // An open transaction is never handed on.
      if (dialect.isFile ? session.inTransaction : !isOfConnection(error, dialect)) {
        await session.control('ROLLBACK').catch(() => session.discard());
      }
      throw error;
    }
  }

  /** What could not even be opened is left to the next call. */
  private mayRepeat(error: unknown, { session }: Use, repeat: Repeat): boolean {
    if (error instanceof LeafError || session === undefined) return false;
    const { dialect } = this.options;
    return (
      dialect.faultOf(error)?.again === 'soon' ||
      (isOfConnection(error, dialect) && (repeat === 'unanswered' || !session.isChanging))
    );
  }

  /** A wait for a locked row that cannot end in time is not begun again. */
  private hasTime(error: unknown, attempt: number, deadline: number): boolean {
    const { dialect } = this.options;
    const isMore = attempt < ATTEMPTS || dialect.isFile;
    const needed = dialect.faultOf(error)?.locked === true ? LOCK_WAIT_MS : 0;
    return isMore && this.clock.monotonic() + needed < deadline;
  }

  private deadline(limitMs: number): number {
    return this.clock.monotonic() + limitMs;
  }

  private told(error: unknown): unknown {
    if (error instanceof LeafError && error.code !== 'LEAF_DATABASE_UNUSABLE') return error;
    const fault = this.options.dialect.faultOf(error);
    if (fault?.again === 'never') return unwritable(error, fault);
    const hint = fault === undefined ? '' : ` (${fault.hint})`;
    return new LeafError(
      'LEAF_STORE_UNAVAILABLE',
      'The database of the segments failed; the log of this server says how. It goes on by itself when the database answers.',
      {
        cause: new Error(`${this.description}: ${messageOf(error)}${hint}`, { cause: error }),
        retryAfterMs: 1000,
      },
    );
  }
}

function unwritable(error: unknown, { hint }: DatabaseFault): LeafError {
  return new LeafError('LEAF_BODY_INVALID', `The database cannot store this text: ${hint}.`, { cause: error });
}
