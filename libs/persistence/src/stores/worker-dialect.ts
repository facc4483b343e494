import type { SqlDatabase, SqlParameter } from '../connections/sql-database';

/** A write of one row, with `?` for a parameter. */
export interface RowWrite {
  readonly sql: string;
  /** Includes the origin, at the position of {@link WorkerDialect.isOrigin}. */
  readonly parameters: readonly SqlParameter[];
  /** The key column, whose value is returned. */
  readonly key: string;
}

/** The differences between databases in the statements on workers. */
export interface WorkerDialect {
  /** Converts a statement to the placeholders of the driver. */
  readonly text: (sql: string) => string;
  /**
   * Returns SQL that evaluates, on the server that executes it, to the name of its copy of the data; to NULL once the
   * role of the server has changed.
   */
  readonly askOrigin: (access: SqlDatabase) => Promise<string>;
  /** A condition with one parameter: this copy of the data executes the write. */
  readonly isOrigin: (origin: string) => string;
  /** A placeholder for an integer. */
  readonly integer: string;
  /** Start and end of an INSERT that keeps an existing row. */
  readonly insert: string;
  readonly onConflict: string;
  /** @returns the key of each row that was written */
  readonly write: (access: SqlDatabase, write: RowWrite, origin: string) => Promise<readonly unknown[]>;
  /** Whether inserting 0 into the ID column generates the next ID. */
  readonly zeroIsNext: boolean;
  /** Raises the ID sequence to its parameter after an INSERT with an explicit ID; undefined if the database does so. */
  readonly raiseNumbering: string | undefined;
  /** The server time in Unix milliseconds; undefined if the server uses the clock of this host. */
  readonly now: string | undefined;
}

/** The result row of a write with RETURNING. */
export interface Written {
  readonly written: number | string;
}
