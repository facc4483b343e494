import { notUpYetBy, FAULT, type DatabaseFault, faultsBy } from '../../connections/database-faults';
import type { SessionDialect, Weakness } from '../../connections/session';
import { SESSION_MODE } from './mysql-driver';
import { codeOf, messageOf } from '@leaf-ids/core/internal';

interface Settings {
  readonly flush: number | string;
  readonly sync_binlog: number | string;
}

interface ProviderOptions {
  readonly Value: string;
}

/** Options of Galera by which nodes without a majority take writes. */
const WITHOUT_QUORUM = /\bpc\.ignore_(?:quorum|sb)\s*=\s*(?:true|yes|on|1)\b/gi;

/** The server closes a session that is idle for this time. */
const IDLE_SECONDS = 60;

/**
 * Text is UTF-8, whatever the default of the server: in another character set, a byte of a letter can be a quote. Every
 * binary log format supports REPEATABLE READ. The timeouts end the transaction of a client that is gone or hangs, with
 * its locks. MySQL treats the settings that only MariaDB has as a comment.
 */
function begin(statementMs: number): string {
  const seconds = Math.max(1, Math.ceil(statementMs / 1000));
  return [
    'SET NAMES utf8mb4',
    `SET SESSION ${SESSION_MODE}, innodb_lock_wait_timeout = 1, wait_timeout = ${IDLE_SECONDS}, lock_wait_timeout = ${seconds} /*M! , max_statement_time = ${seconds}, idle_transaction_timeout = ${2 * seconds} */`,
    'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
    // No row on a server without Galera.
    "SHOW GLOBAL VARIABLES WHERE Variable_name = 'wsrep_provider_options'",
    `SELECT @@global.innodb_flush_log_at_trx_commit AS flush,
      IF(@@global.log_bin, @@global.sync_binlog, 1) AS sync_binlog`,
  ].join('; ');
}

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

export const MYSQL_SESSION: SessionDialect = {
  begin: async (statement, { statementMs }) => {
    const answers = await statement<readonly unknown[]>(begin(statementMs));
    const [provider] = answers.at(-2) as readonly ProviderOptions[];
    const [settings] = answers.at(-1) as readonly Settings[];
    const weaknesses: Weakness[] = [];
    const withoutQuorum = provider?.Value.match(WITHOUT_QUORUM) ?? [];
    if (withoutQuorum.length > 0) {
      weaknesses.push({
        setting: 'wsrep_provider_options',
        value: withoutQuorum.join('; '),
        consequence:
          'nodes that do not reach each other both take writes, and IDs are issued twice. Set pc.ignore_quorum and pc.ignore_sb to false.',
      });
    }
    // 3, on MariaDB only, flushes more often than 1.
    if (![1, 3].includes(Number(settings?.flush))) {
      weaknesses.push({
        setting: 'innodb_flush_log_at_trx_commit',
        value: String(settings?.flush),
        consequence:
          'a crash of the database loses about one second of commits, and their IDs are issued twice. Set it to 1.',
      });
    }
    if (Number(settings?.sync_binlog) !== 1) {
      weaknesses.push({
        setting: 'sync_binlog',
        value: String(settings?.sync_binlog),
        consequence:
          'a crash of the host loses commits that are not in the binary log yet, and their IDs are issued twice. Set it to 1.',
      });
    }
    return weaknesses;
  },
  durabilitySettings: ['innodb_flush_log_at_trx_commit', 'sync_binlog', 'wsrep_provider_options'],
  isFile: false,
  faultOf: mysqlFault,
  ofStatement: /^ER_/,
  isNotUpYet: notUpYetBy(
    ['PROTOCOL_CONNECTION_LOST', 'PROTOCOL_SEQUENCE_TIMEOUT', 'ER_LOCK_WAIT_TIMEOUT', 'ER_QUERY_TIMEOUT'],
    /max_statement_time exceeded/,
  ),
};
