import { codeOf, messageOf } from '@leaf/core';

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

const SOON = { again: 'soon', hint: 'it was rolled back and is repeated' } as const;
const AWAY = { again: 'later', connection: true, hint: 'the connection is gone; is the database up?' } as const;
const READ_ONLY = {
  again: 'later',
  connection: true,
  hint: 'this server takes no writes: is it a replica, or was it failed over?',
} as const;
const SCHEMA = {
  again: 'later',
  byHand: true,
  hint: 'a table is not as expected: set LEAF_DATABASE_MIGRATE=true, or make it as docs/operations.md says',
} as const;
const RIGHTS = {
  again: 'later',
  byHand: true,
  hint: 'grant this user SELECT, INSERT, UPDATE and DELETE on the tables leaf_*',
} as const;
const LOGIN = {
  again: 'later',
  byHand: true,
  hint: 'check the user, the password and the database in its URL',
} as const;
const UNWRITABLE = { again: 'never', hint: 'the table has no place for some of its characters; utf8mb4 has' } as const;
const BUSY = { again: 'soon', busy: true, hint: 'another process writes to the file' } as const;
const FULL = { again: 'later', hint: 'make room on the disk of the database' } as const;

/** The storage engine's own error in that of a COMMIT: Group Replication aborted the transaction for that of another member. */
const DEADLOCK_AT_COMMIT = /^Got error 149\b/;

/** By the code that the driver gives: mysql2's names, PostgreSQL's SQLSTATE, SQLite's names, Node's. */
const FAULTS: Readonly<Record<string, DatabaseFault>> = {
  ER_LOCK_DEADLOCK: SOON,
  ER_CHECKREAD: SOON,
  // Group Replication found that another member had changed the same row.
  ER_TRANSACTION_ROLLBACK_DURING_COMMIT: SOON,
  ER_LOCK_WAIT_TIMEOUT: {
    again: 'soon',
    locked: true,
    hint: 'another transaction holds the row of the tag; it is repeated',
  },
  PROTOCOL_CONNECTION_LOST: AWAY,
  PROTOCOL_SEQUENCE_TIMEOUT: {
    again: 'later',
    connection: true,
    hint: 'no answer in time; the statement counts as carried out',
  },
  ER_SERVER_SHUTDOWN: AWAY,
  ER_TOO_MANY_USER_CONNECTIONS: { again: 'later', hint: 'the database has no free connection for this user' },
  ER_CON_COUNT_ERROR: { again: 'later', hint: 'the database has no free connection: raise max_connections' },
  ER_OPTION_PREVENTS_STATEMENT: READ_ONLY,
  ER_READ_ONLY_MODE: READ_ONLY,
  ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: READ_ONLY,
  ER_NO_SUCH_TABLE: SCHEMA,
  ER_BAD_FIELD_ERROR: SCHEMA,
  ER_TABLEACCESS_DENIED_ERROR: RIGHTS,
  ER_COLUMNACCESS_DENIED_ERROR: RIGHTS,
  ER_DBACCESS_DENIED_ERROR: RIGHTS,
  ER_ACCESS_DENIED_ERROR: LOGIN,
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: LOGIN,
  ER_HOST_NOT_PRIVILEGED: LOGIN,
  ER_BAD_DB_ERROR: LOGIN,
  ER_TRUNCATED_WRONG_VALUE_FOR_FIELD: UNWRITABLE,
  ER_DATA_TOO_LONG: UNWRITABLE,
  ER_DISK_FULL: FULL,
  ER_RECORD_FILE_FULL: FULL,
  '40001': SOON,
  '40P01': SOON,
  '55P03': { again: 'soon', locked: true, hint: 'another transaction holds the row; it is repeated' },
  '25P02': { again: 'later', connection: true, hint: 'a transaction before it was not ended' },
  '22021': UNWRITABLE,
  '22P05': UNWRITABLE,
  '25006': READ_ONLY,
  '55000': READ_ONLY,
  '42P01': SCHEMA,
  '42703': SCHEMA,
  '42501': RIGHTS,
  '28000': LOGIN,
  '28P01': LOGIN,
  '3D000': LOGIN,
  '53100': FULL,
  '53300': { again: 'later', hint: 'the database has no free connection: raise max_connections' },
  '57014': { again: 'later', hint: 'no answer in time; the statement was cancelled' },
  '57P01': AWAY,
  '57P02': AWAY,
  '57P03': AWAY,
  ECONNREFUSED: AWAY,
  ECONNRESET: AWAY,
  EPIPE: AWAY,
  ETIMEDOUT: AWAY,
  ENOTFOUND: { again: 'later', hint: 'the name of the database host is unknown' },
  SQLITE_BUSY: BUSY,
  SQLITE_BUSY_SNAPSHOT: BUSY,
  SQLITE_FULL: FULL,
  SQLITE_READONLY: { again: 'later', byHand: true, hint: 'the database file cannot be written by this user' },
};

/** What is known of an error's code; undefined for an unknown one, which is tried again later all the same. */
export function databaseFault(error: unknown): DatabaseFault | undefined {
  const code = codeOf(error) ?? '';
  if (code === 'ER_ERROR_DURING_COMMIT') return DEADLOCK_AT_COMMIT.test(messageOf(error)) ? SOON : undefined;
  return FAULTS[code];
}

/** The same of an error or whatever caused it. */
export function faultBeneath(error: unknown): DatabaseFault | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const fault = databaseFault(each);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
