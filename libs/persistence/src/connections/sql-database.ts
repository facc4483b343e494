import type { EntityManager } from 'typeorm';
import { type Clock, LeafError } from '@leaf-ids/core';
import { messageOf, Semaphore, withinDeadline } from '@leaf-ids/core/internal';
import {
  ConnectionSource,
  type ConnectionSourceOptions,
  type QueryRunners,
  isOfConnection,
  NoAnswer,
} from './connection-source';
import type { Session, SqlParameter, Statement } from './session';
import type { DatabaseFault } from './database-faults';

export type { SqlParameter, Statement } from './session';

export interface SqlStatement {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
}

export interface SqlDatabaseOptions extends ConnectionSourceOptions {
  /** Limit for a call, including its wait for a connection, in milliseconds. */
  readonly limitMs: number;
  /** Maximum number of connections. */
  readonly connections: number;
}

/**
 * When to repeat a call: `refused`: only when the server has rolled it back; `unanswered`: also when it got no
 * response, so that it may be executed twice.
 */
type Repeat = 'refused' | 'unanswered';

interface Use {
  session: Session | undefined;
}

/** Calls that may wait for a connection; further ones are refused. */
const MAX_WAITING = 10_000;
/** Attempts of a call that was rolled back, or whose connection was dead. */
const ATTEMPTS = 4;
/** Pause before a retry when another process is writing to the SQLite file, in milliseconds. */
const BUSY_MS = 10;
/** Share of the remaining time that is reserved for a new connection, in case an idle one is dead. */
const COLD_SHARE = 0.4;
/** Lock wait timeout of a session, in milliseconds. */
const LOCK_WAIT_MS = 1000;
/** Time of SQLite in one turn of the event loop, in milliseconds. */
const TURN_MS = 1;
/** A statement that only reads. */
export const SELECT = /^\s*SELECT\b/i;

/**
 * One database, as the stores use it: every call has a deadline, and every fault rejects with `LEAF_STORE_UNAVAILABLE`.
 * A caller has exclusive use of a connection until its call ends. When a connection does not respond, fails to roll
 * back or leads to a read-only server, it is discarded with all that are as old, and the call is retried on a new
 * connection until its deadline. After the deadline, no statement is sent.
 */
export class SqlDatabase {
  private readonly line: Semaphore;
  private readonly source: ConnectionSource;
  /** Monotonic. */
  private yieldedAt = 0;

  /**
   * @param description identifies the database in logs and errors; contains no secrets
   */
  constructor(
    runners: QueryRunners,
    readonly description: string,
    private readonly clock: Clock,
    private readonly options: SqlDatabaseOptions,
  ) {
    this.line = new Semaphore(options.connections, clock, MAX_WAITING);
    this.source = new ConnectionSource(runners, description, clock, options);
  }

  /**
   * How long the answer to a statement of a long transaction is awaited, in milliseconds: twice the limit of the server,
   * which ends the statement and then the transaction.
   */
  get answerMs(): number {
    return 2 * this.options.statementMs;
  }

  /** Maximum number of open connections. */
  get connections(): number {
    return this.options.connections;
  }

  /**
   * Yields to the event loop between the statements of a long task: SQLite is synchronous, and would block requests.
   */
  yieldToEventLoop(): Promise<void> {
    return this.clock.sleep(0);
  }

  /**
   * SQLite is synchronous: a task of many statements would hold the event loop until its end, however many of them run
   * beside each other.
   */
  private async yieldIfLong(): Promise<void> {
    if (!this.options.dialect.isFile || this.clock.monotonic() - this.yieldedAt < TURN_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.yieldedAt = this.clock.monotonic();
  }

  /**
   * Checks that commits on the database are durable.
   *
   * @throws LeafError `LEAF_DATABASE_UNUSABLE` naming the setting; or the error of the driver
   */
  async assertDurable(): Promise<void> {
    const deadline = this.deadline(this.options.limitMs);
    await this.attempt(deadline, () => Promise.resolve(), { session: undefined }, 'refused');
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE`; a statement that was sent counts as executed */
  run<Result>(sql: string, parameters: SqlParameter[]): Promise<Result> {
    return this.execute(sql, parameters, 'unanswered');
  }

  /**
   * As {@link run}, for reads of repositories.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  read<Result>(work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return this.withConnection(this.options.limitMs, (session) => work(session.manager), 'unanswered');
  }

  /**
   * As {@link run}, for a statement that must not be executed twice: it is not retried after a missing response.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  runOnce<Result>(sql: string, parameters: SqlParameter[]): Promise<Result> {
    return this.execute(sql, parameters, 'refused');
  }

  /**
   * Sends several statements in one round trip, outside a transaction, and returns the result of each. MySQL only.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`; all statements that were sent count as executed
   */
  runTogether(statements: readonly SqlStatement[], repeat: Repeat = 'unanswered'): Promise<readonly unknown[]> {
    const sql = statements.map((statement) => statement.sql).join('; ');
    const parameters = statements.flatMap((statement) => statement.parameters);
    return this.execute(sql, parameters, repeat);
  }

  /**
   * Runs `work` in one transaction.
   *
   * @param limitMs limit for the whole transaction, in milliseconds
   * @param answerMs limit for the answer to each statement, in milliseconds; `limitMs` unless set
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`, or the LeafError that `work` throws
   */
  transaction<Result>(
    work: (statement: Statement) => Promise<Result>,
    limitMs: number,
    answerMs?: number,
  ): Promise<Result> {
    return this.withConnection(limitMs, (session) => this.inTransaction(session, work, answerMs), 'refused');
  }

  private execute<Result>(sql: string, parameters: SqlParameter[], repeat: Repeat): Promise<Result> {
    const work = (query: Statement): Promise<Result> => query<Result>(sql, parameters);
    // A prepared write must not find the file busy: see Session.control. The transaction takes the lock first.
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
        const result = await this.attempt(deadline, work, use, repeat);
        await this.yieldIfLong();
        return result;
      } catch (error) {
        if (!this.mayRepeat(error, use, repeat) || !this.hasTime(error, attempt, deadline))
          throw this.toLeafError(error);
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
    if (!(await line.enter(deadline))) throw noFreeConnection();
    const opening = source.open(Math.min(deadline, this.deadline(this.answerMs)));
    let faulty = false;
    try {
      if (!(await withinDeadline(opening, deadline, clock))) throw new NoAnswer(this.options.limitMs);
      const session = await opening;
      use.session = session;
      const left = deadline - clock.monotonic();
      if (left <= 0) throw noFreeConnection();
      // Leaves time for a new connection in case the idle one is dead.
      const isDoubtful = session.cold && left > LOCK_WAIT_MS;
      if (isDoubtful && repeat === 'refused') await this.probe(session, Math.min(left * COLD_SHARE, this.answerMs));
      const until = isDoubtful && repeat === 'unanswered' ? deadline - left * COLD_SHARE : deadline;
      const result = work(session);
      if (await withinDeadline(result, until, clock)) return await result;
      throw new NoAnswer(Math.round(left));
    } catch (error) {
      faulty = isOfConnection(error, this.options.dialect);
      throw error;
    } finally {
      // A connection that is still opening occupies its slot until it is open.
      const closed = opening.then((session) => source.close(session, faulty && use.session !== undefined));
      void closed.catch(() => undefined).then(() => line.leave());
    }
  }

  /** Checks the connection before work that must not be sent twice. */
  private async probe(session: Session, limitMs: number): Promise<void> {
    if (await withinDeadline(session.query('SELECT 1'), this.deadline(limitMs), this.clock)) return;
    throw new NoAnswer(Math.round(limitMs));
  }

  private async inTransaction<Result>(
    session: Session,
    work: (statement: Statement) => Promise<Result>,
    answerMs: number | undefined,
  ): Promise<Result> {
    const { dialect } = this.options;
    const answered = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
      if (answerMs === undefined) return answer;
      if (await withinDeadline(answer, this.deadline(answerMs), this.clock)) return answer;
      throw new NoAnswer(answerMs);
    };
    // Left open by a failed rollback; the connection of a server would have been discarded.
    if (session.inTransaction) await session.control('ROLLBACK');
    session.connection.assertInPlace?.();
    await answered(session.control(dialect.isFile ? 'BEGIN IMMEDIATE' : 'BEGIN'));
    session.isChanging = true;
    try {
      const result = await work((sql, parameters) => answered(session.query(sql, parameters)));
      await answered(session.control('COMMIT'));
      session.connection.assertInPlace?.();
      return result;
    } catch (error) {
      // Never return a connection with an open transaction to the pool.
      if (dialect.isFile ? session.inTransaction : !isOfConnection(error, dialect)) {
        await session.control('ROLLBACK').catch(() => session.discard());
      }
      throw error;
    }
  }

  /** A call whose connection could not be opened is not repeated. */
  private mayRepeat(error: unknown, { session }: Use, repeat: Repeat): boolean {
    if (error instanceof LeafError || session === undefined) return false;
    const { dialect } = this.options;
    return (
      dialect.faultOf(error)?.again === 'soon' ||
      (isOfConnection(error, dialect) && (repeat === 'unanswered' || !session.isChanging))
    );
  }

  /** A wait for a locked row is not repeated when it could not end before the deadline. */
  private hasTime(error: unknown, attempt: number, deadline: number): boolean {
    const fault = this.options.dialect.faultOf(error);
    const isMore = attempt < ATTEMPTS || fault?.busy === true;
    const needed = fault?.locked === true ? LOCK_WAIT_MS : 0;
    return isMore && this.clock.monotonic() + needed < deadline;
  }

  private deadline(limitMs: number): number {
    return this.clock.monotonic() + limitMs;
  }

  private toLeafError(error: unknown): unknown {
    if (error instanceof LeafError && error.code !== 'LEAF_DATABASE_UNUSABLE') return error;
    const fault = this.options.dialect.faultOf(error);
    if (fault?.again === 'never') return unwritable(error, fault);
    const hint = fault === undefined ? '' : ` (${fault.hint})`;
    return new LeafError(
      'LEAF_STORE_UNAVAILABLE',
      'The segment database failed; the cause is in the log of this server. The server recovers by itself once the database responds.',
      {
        cause: new Error(`${this.description}: ${messageOf(error)}${hint}`, { cause: error }),
        retryAfterMs: 1000,
      },
    );
  }
}

function noFreeConnection(): Error {
  return new Error('no connection became free in time; no statement was sent');
}

function unwritable(error: unknown, { hint }: DatabaseFault): LeafError {
  return new LeafError('LEAF_BODY_INVALID', `The database cannot store this text: ${hint}.`, { cause: error });
}
