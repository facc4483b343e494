import { codeOf, messageOf } from '@leaf-ids/core';
import { FAULT, type DatabaseFault, faultsBy } from '../connections/database-faults';

/** By mysql2's names of the server's errors, and its own codes. */
const byCode = faultsBy({
  ER_LOCK_DEADLOCK: FAULT.soon,
  ER_CHECKREAD: FAULT.soon,
  // Group Replication found that another member had changed the same row.
  ER_TRANSACTION_ROLLBACK_DURING_COMMIT: FAULT.soon,
  ER_LOCK_WAIT_TIMEOUT: {
    again: 'soon',
    locked: true,
    hint: 'another transaction holds the row of the tag; it is repeated',
  },
  PROTOCOL_CONNECTION_LOST: FAULT.away,
  PROTOCOL_SEQUENCE_TIMEOUT: {
    again: 'later',
    connection: true,
    hint: 'no answer in time; the statement counts as carried out',
  },
  ER_SERVER_SHUTDOWN: FAULT.away,
  ER_TOO_MANY_USER_CONNECTIONS: { again: 'later', hint: 'the database has no free connection for this user' },
  ER_CON_COUNT_ERROR: FAULT.noConnection,
  ER_OPTION_PREVENTS_STATEMENT: FAULT.readOnly,
  ER_READ_ONLY_MODE: FAULT.readOnly,
  ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: FAULT.readOnly,
  ER_NO_SUCH_TABLE: FAULT.schema,
  ER_BAD_FIELD_ERROR: FAULT.schema,
  ER_TABLEACCESS_DENIED_ERROR: FAULT.rights,
  ER_COLUMNACCESS_DENIED_ERROR: FAULT.rights,
  ER_DBACCESS_DENIED_ERROR: FAULT.rights,
  ER_ACCESS_DENIED_ERROR: FAULT.login,
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: FAULT.login,
  ER_HOST_NOT_PRIVILEGED: FAULT.login,
  ER_BAD_DB_ERROR: FAULT.login,
  ER_TRUNCATED_WRONG_VALUE_FOR_FIELD: FAULT.unwritable,
  ER_DATA_TOO_LONG: FAULT.unwritable,
  ER_DISK_FULL: FAULT.full,
  ER_RECORD_FILE_FULL: FAULT.full,
});

/** The storage engine's own error in that of a COMMIT: Group Replication aborted the transaction for that of another member. */
const DEADLOCK_AT_COMMIT = /^Got error 149\b/;

export function mysqlFault(error: unknown): DatabaseFault | undefined {
  if (codeOf(error) !== 'ER_ERROR_DURING_COMMIT') return byCode(error);
  return DEADLOCK_AT_COMMIT.test(messageOf(error)) ? FAULT.soon : undefined;
}
