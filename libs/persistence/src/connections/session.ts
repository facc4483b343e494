import type { EntityManager, QueryRunner } from 'typeorm';

/** Runs one statement on one connection. */
export type Statement = <Result>(sql: string, parameters?: SqlParameter[]) => Promise<Result>;

export type SqlParameter = string | number | bigint | null;

/** The parts of a driver's connection that Leaf uses: mysql2 has `destroy`, pg has `end`. */
export interface RawConnection {
  readonly destroy?: () => void;
  readonly end?: () => Promise<void>;
  /** SQLite: runs a statement without preparing it. */
  readonly exec?: (sql: string) => unknown;
  /** SQLite. */
  readonly inTransaction?: boolean;
  /** SQLite: throws if the file was removed or replaced since it was opened. */
  readonly assertInPlace?: () => void;
  /** The process ID that PostgreSQL, or a pooler in front of it, reported when the connection opened. */
  readonly processID?: number;
}

/** One connection, for the duration of one unit of work. */
export class Session {
  /** The connection was idle in the pool for some time, and may be dead. */
  cold = false;
  /** A statement that changes data may have been sent. */
  isChanging = false;
  private discarded = false;

  constructor(
    private readonly runner: QueryRunner,
    readonly connection: RawConnection,
  ) {}

  readonly query: Statement = async <Result>(sql: string, parameters: SqlParameter[] = []) => {
    if (this.discarded) throw new Error('the connection was discarded; the statement was not sent');
    return (await this.runner.query(sql, parameters)) as Result;
  };

  /**
   * Begins or ends a transaction. The statement is not prepared on SQLite: there, a prepared statement that finds the
   * file busy stays active, and rolls back the writes between its two runs.
   */
  async control(sql: 'BEGIN' | 'BEGIN IMMEDIATE' | 'COMMIT' | 'ROLLBACK'): Promise<void> {
    const { exec } = this.connection;
    if (exec === undefined) await this.query(sql);
    else exec.call(this.connection, sql);
  }

  /** Reads through repositories on this connection. */
  get manager(): EntityManager {
    return this.runner.manager;
  }

  get inTransaction(): boolean {
    return this.connection.inTransaction === true;
  }

  /** Closes the connection. It is not reused, and no further statement is sent on it. */
  discard(): void {
    if (this.discarded) return;
    this.discarded = true;
    const { destroy, end } = this.connection;
    if (destroy !== undefined) destroy.call(this.connection);
    else void end?.call(this.connection).catch(() => undefined);
  }

  /** Returns the connection to the pool. A discarded one makes room for a new one. */
  release(): Promise<void> {
    return this.runner.release();
  }
}
