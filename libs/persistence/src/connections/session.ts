import type { EntityManager, QueryRunner } from 'typeorm';
import type { DatabaseFault } from './database-faults';
import { LeafError } from '@leaf-ids/core';

/** Runs one statement on one connection. */
export type Statement = <Result>(sql: string, parameters?: SqlParameter[]) => Promise<Result>;

export type SqlParameter = string | number | bigint | null;

/** The parts of a driver's connection that Leaf uses: mysql2 has `destroy`, pg has `end`. */
export interface RawConnection {
  readonly destroy?: () => void;
  readonly end?: () => Promise<void>;
  /** SQLite: runs a statement without preparing it. */
  readonly exec?: (sql: string) => unknown;
  /** SQLite. Of a closed database, it ends the process. */
  readonly inTransaction?: boolean;
  /** SQLite. */
  readonly open?: boolean;
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
    return this.connection.open !== false && this.connection.inTransaction === true;
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

export interface SessionLimits {
  /** Limit for a statement on the server, in milliseconds. */
  readonly statementMs: number;
  /** PostgreSQL: the schema of the tables. */
  readonly schema?: string | undefined;
}

/** How one engine sets up a session, and how to treat its errors. */
export interface SessionDialect {
  /**
   * Applies the session settings, and reads those that a session cannot change.
   *
   * @param processId ID of the server process, as reported when the connection opened
   * @throws LeafError `LEAF_DATABASE_UNUSABLE` when the session would resolve tables in another schema
   */
  readonly begin: (
    statement: Statement,
    limits: SessionLimits,
    processId: number | undefined,
  ) => Promise<readonly Weakness[]>;
  /** The settings that `begin` may report as a weakness. */
  readonly durabilitySettings: readonly string[];
  /** True for a file in this process, with one writer and one permanent connection; false for a server with a pool. */
  readonly isFile: boolean;
  /** The fault of a driver error; undefined for an unknown error, which is retried later. */
  readonly faultOf: (error: unknown) => DatabaseFault | undefined;
  /** Matches error codes that concern one statement and leave the connection usable. */
  readonly ofStatement: RegExp;
  /** Whether a later attempt to connect may succeed without a change of configuration. */
  readonly isNotUpYet: (error: unknown) => boolean;
}

/** A database setting that can cause duplicate IDs. */
export interface Weakness {
  /** The name of the setting; `accept` refers to it. */
  readonly setting: string;
  readonly value: string;
  /** The effect on IDs, and the remedy. */
  readonly consequence: string;
}

/** @throws LeafError `LEAF_DATABASE_UNUSABLE` for a weakness that is not accepted */
export function assertDurable(description: string, weaknesses: readonly Weakness[], accepted: readonly string[]): void {
  const refused = weaknesses.filter(({ setting }) => !accepted.includes(setting));
  if (refused.length === 0) return;
  const text = refused.map(({ setting, value, consequence }) => `${setting} is ${value}: ${consequence}`).join(' ');
  const names = refused.map(({ setting }) => setting).join(', ');
  throw new LeafError(
    'LEAF_DATABASE_UNUSABLE',
    `${description} can lose committed data. ${text} To start anyway, accept the risk: add ${names} to the option accept.`,
  );
}
