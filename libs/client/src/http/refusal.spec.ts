import { ERROR_CATALOGUE, LeafError, type LeafErrorCode } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { ServerFault } from '../servers/server-health';
import { refusalOf } from './answers';

const PROBLEM = 'application/problem+json; charset=utf-8';
const clock = new FakeClock(Date.UTC(2026, 0, 1));

function refusal(
  status: number,
  problem: unknown,
  retryAfter?: string,
  contentType = PROBLEM,
): LeafError | ServerFault {
  const text = typeof problem === 'string' ? problem : JSON.stringify(problem);
  return refusalOf({ status, contentType, retryAfter, nonce: undefined, text }, clock);
}

const CODES = (Object.keys(ERROR_CATALOGUE) as LeafErrorCode[]).filter((code) => code !== 'LEAF_INTERNAL');

describe('refusalOf', () => {
  it.each(CODES)('keeps %s of the server, and what it says', (code) => {
    const error = refusal(ERROR_CATALOGUE[code].status, { code, detail: 'Do this.' });
    expect(error).toBeInstanceOf(LeafError);
    expect(error).toMatchObject({ code, message: 'Do this.', retryAfterMs: undefined });
  });

  it.each([
    ['7', 7000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['86400', 60_000],
    ['soon', undefined],
    [undefined, undefined],
  ])('reads Retry-After: %s', (header, ms) => {
    expect(refusal(503, { code: 'LEAF_NOT_READY', detail: '' }, header).retryAfterMs).toBe(ms);
    expect(refusal(503, 'down for repair', header, 'text/html').retryAfterMs).toBe(ms);
  });

  it('ignores Retry-After for other statuses', () => {
    expect(refusal(404, { code: 'LEAF_TAG_NOT_FOUND', detail: '' }, '7').retryAfterMs).toBeUndefined();
  });

  it('treats an unknown 4xx code as a bad request, and names it', () => {
    const error = refusal(409, { code: 'LEAF_OF_TOMORROW', detail: 'Do that.' });
    expect(error).toMatchObject({ code: 'LEAF_REQUEST_INVALID', retryable: false });
    expect(error.message).toMatch(/409 LEAF_OF_TOMORROW.*Do that\./);
  });

  it.each<[string, number, unknown, string]>([
    ['an unknown code of 5xx', 503, { code: 'LEAF_OF_TOMORROW', detail: '' }, PROBLEM],
    ['an unknown code of 429', 429, { code: 'LEAF_OF_TOMORROW', detail: '' }, PROBLEM],
    ['a fault of the server itself', 500, { code: 'LEAF_INTERNAL', detail: '' }, PROBLEM],
    ['a page of a proxy', 404, '<h1>Not found</h1>', 'text/html'],
    ['JSON that is not a problem document', 404, { code: 'LEAF_TAG_NOT_FOUND' }, 'application/json'],
    ['a broken problem', 404, '{"code":', PROBLEM],
    ['a problem of null', 404, null, PROBLEM],
    ['a problem document of another service', 404, { code: 'NOT_FOUND' }, PROBLEM],
    ['a code that is a property of every object', 404, { code: 'constructor' }, PROBLEM],
    ['a redirect', 302, '', 'text/plain'],
    ['a success other than 200', 204, '', ''],
  ])('treats %s as a fault of the server', (_, status, problem, contentType) => {
    expect(refusal(status, problem, undefined, contentType)).toBeInstanceOf(ServerFault);
  });

  it('limits the length of the detail', () => {
    const error = refusal(503, { code: 'LEAF_NOT_READY', detail: 'x'.repeat(100_000) });
    expect(error.message.length).toBe(1000);
    expect(refusal(503, { code: 'LEAF_NOT_READY', detail: 5 }).message).toBe('');
  });
});
