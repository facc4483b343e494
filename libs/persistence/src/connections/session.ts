import type { QueryRunner } from 'typeorm';

/** Runs one statement on one connection. */
export type Statement = <Result>(sql: string, parameters?: SqlParameter[]) => Promise<Result>;

export type SqlParameter = string | number | bigint | null;

/** What is used of a driver's connection: mysql2 destroys it, pg ends it. */
export interface RawConnection {
  readonly destroy?: () => void;
  readonly end?: () => Promise<void>;
  /** SQLite: runs a statement that is not kept. */
  readonly exec?: (sql: string) => unknown;
  /** SQLite. */
  readonly inTransaction?: boolean;
  /** The process that PostgreSQL, or a pooler before it, has named at the start. */
  readonly processID?: number;
}

/** One connection, for as long as one piece of work holds it. */
export class Session {
  /** It has waited in the pool for some time, and may be dead. */
  cold = false;
  /** A statement that changes something may have been sent. */
  isChanging = false;
  private discarded = false;

  constructor(
    private readonly runner: QueryRunner,
    readonly connection: RawConnection,
  ) {}

  readonly query: Statement = async <Result>(sql: string, parameters: SqlParameter[] = []) => {
    if (this.discarded) throw new Error('the connection was given up; the statement was not sent');
    return (await this.runner.query(sql, parameters)) as Result;
  };

  /**
   * Begins or ends a transaction. Not prepared on SQLite: a prepared statement that found the file busy stays under way
   * there, and whatever is written beside it is rolled back when it runs again.
   */
  async control(sql: 'BEGIN' | 'BEGIN IMMEDIATE' | 'COMMIT' | 'ROLLBACK'): Promise<void> {
    const { exec } = this.connection;
    if (exec === undefined) await this.query(sql);
    else exec.call(this.connection, sql);
  }

  get inTransaction(): boolean {
    return this.connection.inTransaction === true;
  }

  /** Ends the connection: nobody gets it any more, and nothing else is sent on it. */
  discard(): void {
    if (this.discarded) return;
    this.discarded = true;
    const { destroy, end } = this.connection;
    if (destroy !== undefined) destroy.call(this.connection);
    else void end?.call(this.connection).catch(() => undefined);
  }

  /** Gives the connection back to the pool; one that was discarded leaves a place for a new one. */
  release(): Promise<void> {
    return this.runner.release();
  }
}
