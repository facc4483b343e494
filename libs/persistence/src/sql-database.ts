import type { DataSource, QueryRunner } from 'typeorm';
import { type Clock, LeafError, messageOf, settledBefore } from '@leaf/core';
import { databaseFault, type DatabaseFault } from './database-faults';

export type SqlParameter = string | number | bigint | null;

export interface SqlStatement {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
}

/** Runs one statement inside of a transaction. */
export type Statement = <Result>(sql: string, parameters?: SqlParameter[]) => Promise<Result>;

export interface SqlDatabaseOptions {
  /** How long a statement may take, its wait for a connection included, in milliseconds. */
  readonly limitMs: number;
  /** There is one connection only: one after the other. */
  readonly serial: boolean;
  /** Several statements may be sent as one. */
  readonly multipleStatements: boolean;
}

/** Tries of what the database rolled back by itself. */
const ATTEMPTS = 3;

/**
 * One database, as the stores use it: every call ends in time, every fault is told as `LEAF_STORE_UNAVAILABLE`. All who
 * share a connection have to share this: on SQLite it keeps their statements out of each other's transactions.
 */
export class SqlDatabase {
  private last: Promise<unknown> = Promise.resolve();

  /**
   * @param description the database as an operator knows it, without secrets
   */
  constructor(
    private readonly dataSource: DataSource,
    readonly description: string,
    private readonly clock: Clock,
    private readonly options: SqlDatabaseOptions,
  ) {}

  /** Between statements of one long task: SQLite answers without a turn of the event loop, and requests would wait. */
  letOthersPass(): Promise<void> {
    return this.clock.sleep(0);
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE`; a statement that was sent counts as carried out */
  run<Result>(sql: string, parameters: SqlParameter[]): Promise<Result> {
    return this.repeated(() => this.answer(() => this.dataSource.query<Result>(sql, parameters), this.options.limitMs));
  }

  /**
   * Runs statements one after the other on one connection, in one round trip where the connection allows it; returns the
   * answer of each. They are no transaction.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`; all that were sent count as carried out
   */
  runTogether(statements: readonly SqlStatement[]): Promise<readonly unknown[]> {
    if (!this.options.multipleStatements) {
      return this.repeated(() => this.answer(() => this.onOneConnection(statements), this.options.limitMs));
    }
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
    return this.repeated(() => this.answer(() => this.inTransaction(work), limitMs));
  }

  private async onOneConnection(statements: readonly SqlStatement[]): Promise<readonly unknown[]> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const answers: unknown[] = [];
      for (const { sql, parameters } of statements) answers.push(await runner.query(sql, [...parameters]));
      return answers;
    } finally {
      await runner.release();
    }
  }

  private async inTransaction<Result>(work: (statement: Statement) => Promise<Result>): Promise<Result> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      const result = await work((sql, parameters) => runner.query(sql, parameters));
      await runner.commitTransaction();
      return result;
    } catch (error) {
      await rollBack(runner);
      throw error;
    } finally {
      await runner.release();
    }
  }

  private async repeated<Result>(act: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await act();
      } catch (error) {
        if (error instanceof LeafError) throw error;
        const fault = databaseFault(error);
        if (fault?.again === 'never') throw unwritable(error, fault);
        if (fault?.again !== 'soon' || attempt === ATTEMPTS) throw this.unavailable(error, fault);
      }
    }
  }

  /** The limits of the drivers leave out the wait for a free connection of the pool. */
  private async answer<Result>(ask: () => Promise<Result>, limitMs: number): Promise<Result> {
    const { serial } = this.options;
    const answer = serial ? this.last.then(ask) : ask();
    if (serial) this.last = answer.catch(() => undefined);
    if (await settledBefore(answer, this.clock.monotonic() + limitMs, this.clock)) return answer;
    throw new Error(`no answer within ${limitMs} ms; a statement that was sent counts as carried out`);
  }

  private unavailable(error: unknown, fault: DatabaseFault | undefined): LeafError {
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

/** The error that made it necessary is the one to tell; the connection may be gone with it. */
async function rollBack(runner: QueryRunner): Promise<void> {
  if (!runner.isTransactionActive) return;
  await runner.rollbackTransaction().catch(() => undefined);
}
