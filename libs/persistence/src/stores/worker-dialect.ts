import type { SqlDatabase, SqlParameter } from '../connections/sql-database';

/** A write of one row, with `?` for a parameter. */
export interface RowWrite {
  readonly sql: string;
  /** `origin` among them where {@link WorkerDialect.isOrigin} stands. */
  readonly parameters: readonly SqlParameter[];
  /** The key column, whose value is returned. */
  readonly key: string;
}

/** How the statements on workers differ between databases. */
export interface WorkerDialect {
  /** The statement as the driver wants it. */
  readonly text: (sql: string) => string;
  /**
   * SQL that evaluates, on the server that executes it, to the name of its copy of the data; to NULL once the server is
   * not what it was when it was asked.
   */
  readonly askOrigin: (access: SqlDatabase) => Promise<string>;
  /** A condition with one parameter: this copy of the data executes the write. */
  readonly isOrigin: (origin: string) => string;
  /** A parameter that is a whole number. */
  readonly integer: string;
  /** Begin and end of an INSERT that keeps an existing row. */
  readonly insert: string;
  readonly onConflict: string;
  /** @returns the key of each row that was written */
  readonly write: (access: SqlDatabase, write: RowWrite, origin: string) => Promise<readonly unknown[]>;
  /** Whether the column of the table's numbering takes 0 for "the next number". */
  readonly zeroIsNext: boolean;
  /** Raises the table's numbering above an explicit number, its parameter; undefined where the database does that. */
  readonly raiseNumbering: string | undefined;
  /** Unix milliseconds by the clock of the server; undefined where it is the clock of this host. */
  readonly now: string | undefined;
}

/** What a write with RETURNING answers. */
export interface Written {
  readonly written: number | string;
}
