import { ERROR_CATALOGUE, type LeafErrorCode } from '@leaf-ids/core';
import type { Answer } from './http';

/** Problems that can precede the headers of a request, and a refusal that is built in advance. */
const WITHOUT_REQUEST_ID = new Set<unknown>([
  'LEAF_REQUEST_INVALID',
  'LEAF_REQUEST_TIMEOUT',
  'LEAF_HEADERS_TOO_LARGE',
  'LEAF_OVERLOADED',
]);

/** 409 on the routes of worker windows. */
const WINDOW_CONFLICTS = new Set<LeafErrorCode>(['LEAF_LEASE_LOST', 'LEAF_WORKERS_USED_UP']);

/** The HTTP statuses that an error can have. */
export function statusesOf(code: LeafErrorCode): number[] {
  return [ERROR_CATALOGUE[code].status, ...(WINDOW_CONFLICTS.has(code) ? [409] : [])];
}

/** Checks that a response is a problem document of the catalogue with no other properties, and returns its code. */
export function problemCode({ status, headers, body }: Answer): LeafErrorCode {
  expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect(headers['cache-control']).toBe('no-store');
  const problem = JSON.parse(body) as Record<string, unknown>;
  const requestId = headers['x-request-id'];
  if (!WITHOUT_REQUEST_ID.has(problem.code)) expect(requestId).toMatch(/^[\w.~:=+/@-]{1,128}$/);
  const fields = ['type', 'title', 'status', 'code', 'detail'];
  expect(Object.keys(problem)).toEqual(requestId === undefined ? fields : [...fields, 'requestId']);
  expect(Object.keys(ERROR_CATALOGUE)).toContain(problem.code);
  const code = problem.code as LeafErrorCode;
  expect(problem).toEqual({
    type: 'about:blank',
    title: ERROR_CATALOGUE[code].title,
    status,
    code,
    detail: expect.stringMatching(/\S/) as string,
    ...(requestId !== undefined && { requestId }),
  });
  expect(statusesOf(code)).toContain(status);
  if (status === 503) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
  return code;
}

/** Like the function above, for errors of the client. */
export function refusalCode(answer: Answer): LeafErrorCode {
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  return problemCode(answer);
}
