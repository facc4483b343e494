import type { DatabaseFault } from '../../connections/database-faults';
import type { Statement, Weakness } from '../../connections/session';
import { MYSQL_SESSION, mysqlFault } from './mysql-session';

function errorOf(code: string, message = 'broken'): Error {
  return Object.assign(new Error(message), { code });
}

function fault(code: string, message?: string): DatabaseFault | undefined {
  return mysqlFault(errorOf(code, message));
}

describe('a transaction that certification in a group rolled back', () => {
  it('is retried at once', () => {
    const conflict = 'Plugin instructed the server to rollback the current transaction.';
    expect(fault('ER_TRANSACTION_ROLLBACK_DURING_COMMIT', conflict)?.again).toBe('soon');
    const aborted = "Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT";
    expect(fault('ER_ERROR_DURING_COMMIT', aborted)?.again).toBe('soon');
  });

  it('is distinguished from other errors of a COMMIT', () => {
    expect(fault('ER_ERROR_DURING_COMMIT', "Got error 1 - 'Operation not permitted' during COMMIT")).toBeUndefined();
    expect(fault('ER_ERROR_DURING_COMMIT', "Got error 1490 - 'x' during COMMIT")).toBeUndefined();
    expect(fault('ER_ERROR_DURING_COMMIT', 'After it: Got error 149')).toBeUndefined();
  });
});

describe('a fault of MySQL', () => {
  it.each(['ER_LOCK_DEADLOCK', 'ER_CHECKREAD'])('%s rolled the statement back, which is retried at once', (code) => {
    expect(fault(code)).toMatchObject({ again: 'soon', hint: expect.stringContaining('rolled back') as string });
  });

  it('of a locked row is retried at once, and is known as one', () => {
    expect(fault('ER_LOCK_WAIT_TIMEOUT')).toEqual({
      ...{ again: 'soon', locked: true },
      hint: expect.stringContaining('locked the row') as string,
    });
  });

  it.each<[string, string]>([
    ['PROTOCOL_CONNECTION_LOST', 'the connection was lost'],
    ['ER_SERVER_SHUTDOWN', 'the connection was lost'],
    ['ECONNRESET', 'the connection was lost'],
    // The statement may have been executed: its connection must not be used for another one.
    ['PROTOCOL_SEQUENCE_TIMEOUT', 'counts as executed'],
    ['ER_OPTION_PREVENTS_STATEMENT', 'read-only'],
    ['ER_READ_ONLY_MODE', 'read-only'],
    ['ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION', 'read-only'],
  ])('%s ends the connection', (code, hint) => {
    const found = fault(code);
    expect(found).toEqual({ again: 'later', connection: true, hint: expect.stringContaining(hint) as string });
  });

  it.each<[string, string]>([
    ['ER_NO_SUCH_TABLE', 'a table or column is missing'],
    ['ER_BAD_FIELD_ERROR', 'a table or column is missing'],
    ['ER_TABLEACCESS_DENIED_ERROR', 'grant this user'],
    ['ER_COLUMNACCESS_DENIED_ERROR', 'grant this user'],
    ['ER_DBACCESS_DENIED_ERROR', 'grant this user'],
    ['ER_ACCESS_DENIED_ERROR', 'check the user, the password'],
    ['ER_ACCESS_DENIED_NO_PASSWORD_ERROR', 'check the user, the password'],
    ['ER_HOST_NOT_PRIVILEGED', 'check the user, the password'],
    ['ER_BAD_DB_ERROR', 'does not exist'],
  ])('%s is for an operator', (code, hint) => {
    expect(fault(code)).toEqual({ again: 'later', byHand: true, hint: expect.stringContaining(hint) as string });
  });

  it.each<[string, DatabaseFault['again'], string]>([
    ['ER_TOO_MANY_USER_CONNECTIONS', 'later', 'no free connection for this user'],
    ['ER_CON_COUNT_ERROR', 'later', 'raise max_connections'],
    ['ER_DISK_FULL', 'later', 'the disk of the database is full'],
    ['ER_RECORD_FILE_FULL', 'later', 'the disk of the database is full'],
    ['ER_TRUNCATED_WRONG_VALUE_FOR_FIELD', 'never', 'utf8mb4'],
    ['ER_DATA_TOO_LONG', 'never', 'utf8mb4'],
    ['ER_CANT_AGGREGATE_2COLLATIONS', 'never', 'utf8mb4'],
  ])('%s is tried again %s', (code, again, hint) => {
    expect(fault(code)).toEqual({ again, hint: expect.stringContaining(hint) as string });
  });

  it('of a statement leaves its connection usable', () => {
    const isOfStatement = (code: string): boolean => MYSQL_SESSION.ofStatement.test(code);
    expect(isOfStatement('ER_DUP_ENTRY')).toBe(true);
    expect(['PROTOCOL_ER_LOST', 'ECONNRESET'].map(isOfStatement)).toEqual([false, false]);
  });

  it.each([
    ['PROTOCOL_CONNECTION_LOST', true],
    ['PROTOCOL_SEQUENCE_TIMEOUT', true],
    ['ER_LOCK_WAIT_TIMEOUT', true],
    ['ER_QUERY_TIMEOUT', true],
    ['ECONNREFUSED', true],
    ['ER_ACCESS_DENIED_ERROR', false],
    ['ER_NO_SUCH_TABLE', false],
  ])('%s: a start waits for the server: %s', (code, mayBeStarting) => {
    expect(MYSQL_SESSION.isNotUpYet(errorOf(code))).toBe(mayBeStarting);
    const message = 'Query execution was interrupted (max_statement_time exceeded)';
    expect(MYSQL_SESSION.isNotUpYet(errorOf(code, message))).toBe(true);
  });
});

describe('a session of MySQL', () => {
  interface Server {
    readonly flush?: number | string;
    readonly syncBinlog?: number | string;
    /** The options of Galera. */
    readonly provider?: string;
  }

  async function begin(
    server: Server = {},
    statementMs = 1000,
  ): Promise<{ sql: string[]; found: readonly Weakness[] }> {
    const { flush = 1, syncBinlog = 1, provider } = server;
    let sent = '';
    const statement: Statement = <Result>(sql: string) => {
      sent = sql;
      const settings = { flush, sync_binlog: syncBinlog };
      const options = provider === undefined ? [] : [{ Value: provider }];
      return Promise.resolve([{}, {}, {}, options, [settings]] as Result);
    };
    const found = await MYSQL_SESSION.begin(statement, { statementMs }, undefined);
    return { sql: sent.split('; '), found };
  }

  it('reads text as UTF-8, compares repeatable reads, and refuses numbers out of range', async () => {
    const { sql } = await begin();
    // The answers of the last two statements are read by their position.
    expect(sql).toHaveLength(5);
    expect(sql[0]).toBe('SET NAMES utf8mb4');
    expect(sql[1]).toMatch(
      /^SET SESSION sql_mode = 'STRICT_ALL_TABLES,.*innodb_lock_wait_timeout = 1, wait_timeout = 60,/,
    );
    expect(sql[2]).toBe('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    expect(sql[3]).toBe("SHOW GLOBAL VARIABLES WHERE Variable_name = 'wsrep_provider_options'");
    expect(sql[4]).toContain('@@global.innodb_flush_log_at_trx_commit AS flush');
    expect(sql[4]).toContain('IF(@@global.log_bin, @@global.sync_binlog, 1) AS sync_binlog');
  });

  it.each([
    [0, 1],
    [999, 1],
    [1001, 2],
    [30_000, 30],
  ])('with a limit of %d ms ends a statement after %d s, and an idle transaction after twice that', async (ms, s) => {
    const { sql } = await begin({}, ms);
    expect(sql[1]).toContain(` lock_wait_timeout = ${s} /*M! `);
    expect(sql[1]).toContain(`, max_statement_time = ${s}, idle_transaction_timeout = ${2 * s} */`);
  });

  it.each<[Server, readonly (readonly [setting: string, value: string])[]]>([
    [{}, []],
    [{ flush: '1', syncBinlog: '1' }, []],
    [{ flush: 3 }, []],
    [{ flush: 0 }, [['innodb_flush_log_at_trx_commit', '0']]],
    [{ flush: '2' }, [['innodb_flush_log_at_trx_commit', '2']]],
    [{ syncBinlog: 0 }, [['sync_binlog', '0']]],
    [{ syncBinlog: '100' }, [['sync_binlog', '100']]],
    [{ provider: '' }, []],
    [{ provider: 'pc.ignore_quorum = false; pc.ignore_sb = false' }, []],
    [{ provider: 'pc.ignore_sb = 10; apc.ignore_sb = 1; pc.ignore_x = 1' }, []],
    [{ provider: 'a = 1; pc.ignore_sb = true; b = 2' }, [['wsrep_provider_options', 'pc.ignore_sb = true']]],
    [{ provider: 'pc.ignore_quorum=YES' }, [['wsrep_provider_options', 'pc.ignore_quorum=YES']]],
    [
      { provider: 'pc.ignore_quorum  =  on; x = 1; pc.ignore_sb = 1', flush: 2, syncBinlog: 0 },
      [
        ['wsrep_provider_options', 'pc.ignore_quorum  =  on; pc.ignore_sb = 1'],
        ['innodb_flush_log_at_trx_commit', '2'],
        ['sync_binlog', '0'],
      ],
    ],
  ])('with %j reports what can issue IDs twice: %j', async (server, expected) => {
    const { found } = await begin(server);
    expect(found.map(({ setting, value }) => [setting, value])).toEqual(expected);
    for (const { setting, consequence } of found) {
      expect(consequence).toMatch(/IDs are issued twice\. Set /);
      expect(MYSQL_SESSION.durabilitySettings).toContain(setting);
    }
  });

  it('reports a server whose settings cannot be read', async () => {
    const statement: Statement = <Result>() => Promise.resolve([[], []] as Result);
    const found = await MYSQL_SESSION.begin(statement, { statementMs: 1 }, undefined);
    expect(found.map(({ value }) => value)).toEqual(['undefined', 'undefined']);
  });

  it('is one of several, in a pool', () => {
    expect(MYSQL_SESSION.isFile).toBe(false);
  });
});
