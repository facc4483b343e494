import type { LeafErrorCode } from './error-catalogue';
import { LeafError } from './leaf-error';

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
