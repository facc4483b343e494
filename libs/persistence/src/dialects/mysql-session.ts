import { notUpYetBy } from '../connections/database-faults';
import type { SessionDialect } from '../connections/session-dialect';
import type { Weakness } from '../connections/weakness';
import { SESSION_MODE } from './mysql-driver';
import { mysqlFault } from './mysql-faults';

interface Settings {
  readonly flush: number | string;
  readonly sync_binlog: number | string;
}

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
    `SELECT @@global.innodb_flush_log_at_trx_commit AS flush,
      IF(@@global.log_bin, @@global.sync_binlog, 1) AS sync_binlog`,
  ].join('; ');
}

export const MYSQL_SESSION: SessionDialect = {
  begin: async (statement, { statementMs }) => {
    const answers = await statement<readonly unknown[]>(begin(statementMs));
    const [settings] = answers.at(-1) as readonly Settings[];
    const weaknesses: Weakness[] = [];
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
  durabilitySettings: ['innodb_flush_log_at_trx_commit', 'sync_binlog'],
  isFile: false,
  faultOf: mysqlFault,
  ofStatement: /^ER_/,
  isNotUpYet: notUpYetBy(
    ['PROTOCOL_CONNECTION_LOST', 'PROTOCOL_SEQUENCE_TIMEOUT', 'ER_LOCK_WAIT_TIMEOUT', 'ER_QUERY_TIMEOUT'],
    /max_statement_time exceeded/,
  ),
};
