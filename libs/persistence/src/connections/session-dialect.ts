import type { DatabaseFault } from './database-faults';
import type { Statement } from './session';
import type { Weakness } from './weakness';

export interface SessionLimits {
  /** How long a statement may take on the server, in milliseconds. */
  readonly statementMs: number;
  /** PostgreSQL: the schema that the tables have to be in. */
  readonly schema?: string | undefined;
}

/** How one kind of database begins a session, and what its errors say. */
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
  /** The settings that `begin` may name as a weakness. */
  readonly durabilitySettings: readonly string[];
  /** A file in this process, with one writer at a time and one connection that stays; else a server with a pool of them. */
  readonly isFile: boolean;
  /** What is known of an error of the driver; undefined for an unknown one, which is tried again later all the same. */
  readonly faultOf: (error: unknown) => DatabaseFault | undefined;
  /** Codes of what a server has said about one statement: the connection is as good as before. */
  readonly ofStatement: RegExp;
  /** Whether connecting may succeed later without anybody changing a setting. */
  readonly isNotUpYet: (error: unknown) => boolean;
}
