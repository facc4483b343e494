import { codeOf, messageOf } from '@leaf-ids/core/internal';
import { FAULT, type DatabaseFault, faultsBy } from '../connections/database-faults';

/** Faults by the error names of mysql2: those of the server, and its own. */
const byCode = faultsBy({
  ER_LOCK_DEADLOCK: FAULT.soon,
  ER_CHECKREAD: FAULT.soon,
  // Group Replication detected a conflicting change of the row on another member.
  ER_TRANSACTION_ROLLBACK_DURING_COMMIT: FAULT.soon,
  ER_LOCK_WAIT_TIMEOUT: {
    again: 'soon',
    locked: true,
    hint: 'another transaction has locked the row of the tag; the statement is retried',
  },
  PROTOCOL_CONNECTION_LOST: FAULT.away,
  PROTOCOL_SEQUENCE_TIMEOUT: {
    again: 'later',
    connection: true,
    hint: 'the statement timed out and counts as executed',
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
  ER_BAD_DB_ERROR: FAULT.noDatabase,
  ER_TRUNCATED_WRONG_VALUE_FOR_FIELD: FAULT.unwritable,
  ER_DATA_TOO_LONG: FAULT.unwritable,
  // A comparison with text that the character set of the column cannot express.
  ER_CANT_AGGREGATE_2COLLATIONS: FAULT.unwritable,
  ER_DISK_FULL: FAULT.full,
  ER_RECORD_FILE_FULL: FAULT.full,
});

/**
 * The engine error inside a COMMIT error: Group Replication aborted the transaction because of one on another member.
 */
const DEADLOCK_AT_COMMIT = /^Got error 149\b/;

export function mysqlFault(error: unknown): DatabaseFault | undefined {
  if (codeOf(error) !== 'ER_ERROR_DURING_COMMIT') return byCode(error);
  return DEADLOCK_AT_COMMIT.test(messageOf(error)) ? FAULT.soon : undefined;
}
