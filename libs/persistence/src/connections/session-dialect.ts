import type { DatabaseFault } from './database-faults';
import type { Statement } from './session';
import type { Weakness } from './weakness';

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
