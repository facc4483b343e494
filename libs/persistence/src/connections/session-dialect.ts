import type { Statement } from './session';
import type { Weakness } from './weakness';

export interface SessionLimits {
  /** How long a statement may take on the server, in milliseconds. */
  readonly statementMs: number;
  /** PostgreSQL: the schema that the tables have to be in. */
  readonly schema?: string | undefined;
}

/** How one kind of database begins a session. */
export interface SessionDialect {
  /**
   * Sets what a session can set, and reads what it cannot.
   *
   * @throws LeafError `LEAF_DATABASE_UNUSABLE` for a session that would look for the tables elsewhere
   * @param processId what the connection was told at its start that the process behind it is, if it was told
   */
  readonly begin: (
    statement: Statement,
    limits: SessionLimits,
    processId: number | undefined,
  ) => Promise<readonly Weakness[]>;
}
