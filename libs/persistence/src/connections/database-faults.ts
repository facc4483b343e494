import { codeOf, messageOf } from '@leaf-ids/core/internal';

/** How to treat an error of the database. */
export interface DatabaseFault {
  /**
   * `soon`: the statement was rolled back, and can be retried at once. `later`: the cause must pass or be fixed first.
   * `never`: the data cannot be stored.
   */
  readonly again: 'soon' | 'later' | 'never';
  /** The connection is unusable, or its server is read-only. */
  readonly connection?: true;
  /** The wait for a row that another transaction has locked reached its limit. */
  readonly locked?: true;
  /** Another process is writing to the file; retry after a short pause. */
  readonly busy?: true;
  /** An operator must change privileges, tables or a setting. */
  readonly byHand?: true;
  /** What to check, for the log. */
  readonly hint: string;
}

/** Faults by the error code of the driver. */
export type FaultTable = Readonly<Record<string, DatabaseFault>>;
export type FaultOf = (error: unknown) => DatabaseFault | undefined;

/** The faults that all engines have in common; each engine has its own codes for them. */
export const FAULT = {
  soon: { again: 'soon', hint: 'the statement was rolled back and is retried' },
  away: { again: 'later', connection: true, hint: 'the connection was lost; check that the database is up' },
  readOnly: {
    again: 'later',
    connection: true,
    hint: 'this server is read-only; check whether it is a replica, or was demoted by a failover',
  },
  schema: {
    again: 'later',
    byHand: true,
    hint: 'a table or column is missing: set the option migrate to true, or create it as described in docs/operations/database.md',
  },
  rights: {
    again: 'later',
    byHand: true,
    hint: 'grant this user SELECT, INSERT, UPDATE and DELETE on the tables leaf_*',
  },
  login: { again: 'later', byHand: true, hint: 'check the user, the password and the database in its URL' },
  noDatabase: {
    again: 'later',
    byHand: true,
    hint: 'the database does not exist: create it, or correct its name in the URL',
  },
  unwritable: { again: 'never', hint: 'the character set of the table lacks some of its characters; use utf8mb4' },
  full: { again: 'later', hint: 'the disk of the database is full: free some space' },
  noConnection: { again: 'later', hint: 'the database has no free connection: raise max_connections' },
} as const satisfies FaultTable;

/** Error codes of Node.js. */
const NETWORK: FaultTable = {
  ECONNREFUSED: FAULT.away,
  ECONNRESET: FAULT.away,
  EPIPE: FAULT.away,
  ETIMEDOUT: FAULT.away,
  ENOTFOUND: { again: 'later', hint: 'the host name of the database cannot be resolved' },
};
/** The database is starting, or a proxy has no server behind it. */
const NOT_UP_YET = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EAI_AGAIN'];

/** Looks up the fault of an error by its code. */
export function faultsBy(table: FaultTable): FaultOf {
  const all: FaultTable = { ...NETWORK, ...table };
  return (error) => all[codeOf(error) ?? ''];
}

/**
 * Recognizes the errors of a server that is not reachable yet, or too busy to respond in time.
 *
 * @param codes error codes of the engine
 * @param messages matches errors without a code
 */
export function notUpYetBy(codes: readonly string[], messages: RegExp): (error: unknown) => boolean {
  const all = new Set([...NOT_UP_YET, ...codes]);
  return (error) => all.has(codeOf(error) ?? '') || messages.test(messageOf(error));
}

/** The fault of an error, or of the first known error in its chain of causes. */
export function faultBeneath(error: unknown, faultOf: FaultOf): DatabaseFault | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const fault = faultOf(each);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
