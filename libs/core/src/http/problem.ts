import { parseObject } from '../util/json';
import { ERROR_CATALOGUE, type LeafErrorCode } from '../errors/error-catalogue';
import { LeafError } from '../errors/leaf-error';

/** RFC 9457 problem details. */
export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly code: LeafErrorCode;
  readonly detail: string;
  /** Left out where the request is refused before its headers are read. */
  readonly requestId?: string;
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

const PROBLEM = /^application\/problem\+json\b/i;
const CODE = /^LEAF_[A-Z_]{1,60}$/;
const MAX_DETAIL = 1000;

/** The methods of a response that Express and Fastify have in common. */
export interface ProblemResponse {
  status(code: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
}

export function problemOf({ title, status, code, message }: LeafError, requestId?: string): Problem {
  const problem = { type: 'about:blank', title, status, code, detail: message } as const;
  return requestId === undefined ? problem : { ...problem, requestId };
}

/** The code and the detail of a problem document of Leaf; undefined for any other response. */
export function parseProblem(contentType: string, text: string): { code: string; detail: string } | undefined {
  if (!PROBLEM.test(contentType)) return undefined;
  const { code, detail } = parseObject(text);
  if (typeof code !== 'string' || !CODE.test(code)) return undefined;
  return { code, detail: typeof detail === 'string' ? detail.slice(0, MAX_DETAIL) : '' };
}

/** Whether this version of Leaf has the code; a newer server can have others. */
export function isErrorCode(code: string): code is LeafErrorCode {
  return Object.hasOwn(ERROR_CATALOGUE, code);
}

/** The error that a client sees in place of one whose message is only for the log. */
export function internalError(cause: unknown): LeafError {
  return new LeafError('LEAF_INTERNAL', 'Internal server error. See the log of the server.', { cause });
}

/** Responds with a problem document, and with `Retry-After` if a retry can succeed. */
export function sendProblem(error: LeafError, response: ProblemResponse, requestId?: string): void {
  for (const [name, value] of Object.entries(error.headers)) response.header(name, value);
  response.header('content-type', PROBLEM_TYPE);
  response.status(error.status);
  response.send(JSON.stringify(problemOf(error, requestId)));
}
