import type { DataSource } from 'typeorm';
import { type Clock, LeafError, messageOf, settledBefore } from '@leaf/core';
import { ConnectionLine } from './connections/connection-line';
import { ConnectionSource, type ConnectionSourceOptions } from './connections/connection-source';
import type { Session, SqlParameter, Statement } from './connections/session';
import { isOfConnection, NoAnswer } from './connections/no-answer';
import { databaseFault, type DatabaseFault } from './database-faults';

export type { SqlParameter, Statement } from './connections/session';

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

interface Use {
  session: Session | undefined;
}

/** Tries of what the database has rolled back, or on connections that turned out to be dead. */
const ATTEMPTS = 4;
/** Before what an SQLite file refuses, since another process writes to it, is tried again, in milliseconds. */
const BUSY_MS = 10;

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
    await this.attempt(this.deadline(this.options.limitMs), () => Promise.resolve());
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE`; a statement that was sent counts as carried out */
  run<Result>(sql: string, parameters: SqlParameter[]): Promise<Result> {
    return this.withConnection(this.options.limitMs, ({ query }) => query<Result>(sql, parameters));
  }

  /**
   * Sends statements together, in one round trip; returns the answer of each. They are no transaction. MySQL only.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`; all that were sent count as carried out
   */
  runTogether(statements: readonly SqlStatement[]): Promise<readonly unknown[]> {
    const sql = statements.map((statement) => statement.sql).join('; ');
    return this.run(
      sql,
      statements.flatMap(({ parameters }) => parameters),
    );
  }

  /**
   * Runs `work` in one transaction.
   *
   * @param limitMs how long all of it may take, in milliseconds
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`, or what `work` throws when that is a LeafError
   */
  transaction<Result>(work: (statement: Statement) => Promise<Result>, limitMs: number): Promise<Result> {
    return this.withConnection(limitMs, (session) => this.inTransaction(session, work), true);
  }

  /** @param once what was answered in part is not repeated */
  private async withConnection<Result>(
    limitMs: number,
    work: (session: Session) => Promise<Result>,
    once = false,
  ): Promise<Result> {
    const deadline = this.deadline(limitMs);
    for (let attempt = 1; ; attempt++) {
      const use: Use = { session: undefined };
      try {
        return await this.attempt(deadline, work, use);
      } catch (error) {
        const isPartlyDone = once && use.session?.answered === true;
        if (!this.mayRepeat(error, use, isPartlyDone) || !this.hasTime(attempt, deadline)) throw this.told(error);
        if (databaseFault(error)?.busy === true) await this.clock.sleep(BUSY_MS);
      }
    }
  }

  private async attempt<Result>(
    deadline: number,
    work: (session: Session) => Promise<Result>,
    use: Use = { session: undefined },
  ): Promise<Result> {
    const { line, source, clock } = this;
    if (!(await line.enter(deadline))) throw new Error('no connection was free in time; nothing was sent');
    const opening = source.open(deadline);
    let faulty = false;
    try {
      if (!(await settledBefore(opening, deadline, clock))) throw new NoAnswer(this.options.limitMs);
      const session = await opening;
      use.session = session;
      // One that has died while nobody used it is replaced in time.
      const left = deadline - clock.monotonic();
      const result = work(session);
      if (await settledBefore(result, session.cold ? deadline - left / 2 : deadline, clock)) return await result;
      throw new NoAnswer(Math.round(left));
    } catch (error) {
      faulty = isOfConnection(error);
      throw error;
    } finally {
      // A connection that is still being opened keeps its place until it is there.
      const closed = opening.then((session) => source.close(session, faulty && use.session !== undefined));
      void closed.catch(() => undefined).then(() => line.leave());
    }
  }

  private async inTransaction<Result>(
    session: Session,
    work: (statement: Statement) => Promise<Result>,
  ): Promise<Result> {
    await session.query(this.options.dialect === 'sqlite' ? 'BEGIN IMMEDIATE' : 'BEGIN');
    try {
      const result = await work(session.query);
      await session.query('COMMIT');
      return result;
    } catch (error) {
      // An open transaction is never handed on.
      if (!isOfConnection(error)) await session.query('ROLLBACK').catch(() => session.discard());
      throw error;
    }
  }

  /** What could not even be opened is left to the next call. */
  private mayRepeat(error: unknown, { session }: Use, isPartlyDone: boolean): boolean {
    if (error instanceof LeafError || session === undefined) return false;
    return databaseFault(error)?.again === 'soon' || (isOfConnection(error) && !isPartlyDone);
  }

  private hasTime(attempt: number, deadline: number): boolean {
    const isMore = attempt < ATTEMPTS || this.options.dialect === 'sqlite';
    return isMore && this.clock.monotonic() < deadline;
  }

  private deadline(limitMs: number): number {
    return this.clock.monotonic() + limitMs;
  }

  private told(error: unknown): unknown {
    if (error instanceof LeafError && error.code !== 'LEAF_DATABASE_UNUSABLE') return error;
    const fault = databaseFault(error);
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
