import { LeafError } from '../errors/leaf-error';
import { internalError, isErrorCode, parseProblem, PROBLEM_TYPE, sendProblem } from './problem';

function sent(error: LeafError, requestId?: string): unknown[] {
  const calls: unknown[] = [];
  sendProblem(
    error,
    {
      status: (code) => calls.push(code),
      header: (...header) => calls.push(header),
      send: (body) => calls.push(JSON.parse(body)),
    },
    requestId,
  );
  return calls;
}

describe('a problem document', () => {
  it('has the code and the message of the error, and when to retry', () => {
    const error = new LeafError('LEAF_NOT_READY', 'Not yet.', { retryAfterMs: 1500 });
    const problem = { type: 'about:blank', title: error.title, status: 503, code: error.code, detail: 'Not yet.' };
    const headers = [
      ['retry-after', '2'],
      ['content-type', PROBLEM_TYPE],
    ];
    expect(sent(error)).toEqual([...headers, 503, problem]);
    expect(sent(error, 'a1')).toEqual([...headers, 503, { ...problem, requestId: 'a1' }]);
  });

  it('does not contain the message of an internal error', () => {
    const cause = new Error('secret');
    const error = internalError(cause);
    expect(error.cause).toBe(cause);
    expect(JSON.stringify(sent(error))).not.toContain('secret');
  });

  it('is read by its code and detail', () => {
    const read = (body: object, type = PROBLEM_TYPE): unknown => parseProblem(type, JSON.stringify(body));
    expect(read({ code: 'LEAF_NEW', detail: 'x'.repeat(1001) })).toEqual({
      code: 'LEAF_NEW',
      detail: 'x'.repeat(1000),
    });
    expect(read({ code: 'LEAF_NEW', detail: 7 })).toEqual({ code: 'LEAF_NEW', detail: '' });
    expect(read({ code: 'OTHER' })).toBeUndefined();
    expect(read({ code: 'LEAF_NEW' }, 'application/json')).toBeUndefined();
    expect([isErrorCode('LEAF_NOT_READY'), isErrorCode('LEAF_NEW'), isErrorCode('toString')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
