import { mysqlFault } from './mysql-session';

function fault(code: string, message: string): unknown {
  return mysqlFault(Object.assign(new Error(message), { code }))?.again;
}

describe('a transaction that certification in a group rolled back', () => {
  it('is retried at once', () => {
    const conflict = 'Plugin instructed the server to rollback the current transaction.';
    expect(fault('ER_TRANSACTION_ROLLBACK_DURING_COMMIT', conflict)).toBe('soon');
    const aborted = "Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT";
    expect(fault('ER_ERROR_DURING_COMMIT', aborted)).toBe('soon');
  });

  it('is distinguished from other errors of a COMMIT', () => {
    expect(fault('ER_ERROR_DURING_COMMIT', "Got error 1 - 'Operation not permitted' during COMMIT")).toBeUndefined();
    expect(fault('ER_ERROR_DURING_COMMIT', "Got error 1490 - 'x' during COMMIT")).toBeUndefined();
  });
});
