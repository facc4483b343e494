import type { QueryRunner } from 'typeorm';

/** Runs one statement on one connection. */
export type Statement = <Result>(sql: string, parameters?: SqlParameter[]) => Promise<Result>;

export type SqlParameter = string | number | bigint | null;

/** What is used of a driver's connection: mysql2 destroys it, pg ends it. */
export interface RawConnection {
  readonly destroy?: () => void;
  readonly end?: () => Promise<void>;
  /** The process that PostgreSQL, or a pooler before it, has named at the start. */
  readonly processID?: number;
}

/** One connection, for as long as one piece of work holds it. */
export class Session {
  /** It has waited in the pool for some time, and may be dead. */
  cold = false;
  /** A statement was answered. */
  answered = false;
  private discarded = false;

  constructor(
    private readonly runner: QueryRunner,
    readonly connection: RawConnection,
  ) {}

  readonly query: Statement = async <Result>(sql: string, parameters: SqlParameter[] = []) => {
    if (this.discarded) throw new Error('the connection was given up; the statement was not sent');
    const answer: unknown = await this.runner.query(sql, parameters);
    this.answered = true;
    return answer as Result;
  };

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
