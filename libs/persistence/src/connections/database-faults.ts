import { codeOf, messageOf } from '@leaf-ids/core';

/** What a database's error says about the statement that met it. */
export interface DatabaseFault {
  /**
   * `soon`: it was rolled back, the same statement may go through at once. `later`: it needs time, or somebody. `never`:
   * what was to be written is at fault.
   */
  readonly again: 'soon' | 'later' | 'never';
  /** The connection cannot be used any more, or leads to a server that takes no writes. */
  readonly connection?: true;
  /** Another transaction holds the row, and the wait for it was as long as it can be. */
  readonly locked?: true;
  /** Another process writes to the file: a moment later it may be free. */
  readonly busy?: true;
  /** It does not pass until somebody changes rights, tables or a setting. */
  readonly byHand?: true;
  /** For the log: what to look at. */
  readonly hint: string;
}

/** By the code that the driver gives. */
export type FaultTable = Readonly<Record<string, DatabaseFault>>;
export type FaultOf = (error: unknown) => DatabaseFault | undefined;

/** What every engine has, under codes of its own. */
export const FAULT = {
  soon: { again: 'soon', hint: 'it was rolled back and is repeated' },
  away: { again: 'later', connection: true, hint: 'the connection is gone; is the database up?' },
  readOnly: {
    again: 'later',
    connection: true,
    hint: 'this server takes no writes: is it a replica, or was it failed over?',
  },
  schema: {
    again: 'later',
    byHand: true,
    hint: 'a table is not as expected: set LEAF_DATABASE_MIGRATE=true, or make it as docs/operations.md says',
  },
  rights: {
    again: 'later',
    byHand: true,
    hint: 'grant this user SELECT, INSERT, UPDATE and DELETE on the tables leaf_*',
  },
  login: { again: 'later', byHand: true, hint: 'check the user, the password and the database in its URL' },
  unwritable: { again: 'never', hint: 'the table has no place for some of its characters; utf8mb4 has' },
  full: { again: 'later', hint: 'make room on the disk of the database' },
  noConnection: { again: 'later', hint: 'the database has no free connection: raise max_connections' },
} as const satisfies FaultTable;

/** Codes of Node.js. */
const NETWORK: FaultTable = {
  ECONNREFUSED: FAULT.away,
  ECONNRESET: FAULT.away,
  EPIPE: FAULT.away,
  ETIMEDOUT: FAULT.away,
  ENOTFOUND: { again: 'later', hint: 'the name of the database host is unknown' },
};
/** A database that is just being started, or a proxy in front of it, while nothing is behind. */
const NOT_UP_YET = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EAI_AGAIN'];

/** Looks errors up by their codes. */
export function faultsBy(table: FaultTable): FaultOf {
  const all: FaultTable = { ...NETWORK, ...table };
  return (error) => all[codeOf(error) ?? ''];
}

/**
 * Tells a server that is not reachable yet, or too busy to answer in time.
 *
 * @param codes of the engine
 * @param messages of errors that have no code
 */
export function notUpYetBy(codes: readonly string[], messages: RegExp): (error: unknown) => boolean {
  const all = new Set([...NOT_UP_YET, ...codes]);
  return (error) => all.has(codeOf(error) ?? '') || messages.test(messageOf(error));
}

/** What is known of an error or whatever caused it. */
export function faultBeneath(error: unknown, faultOf: FaultOf): DatabaseFault | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const fault = faultOf(each);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
