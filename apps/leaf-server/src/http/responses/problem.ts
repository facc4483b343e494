import { HttpException } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { codeOf, LeafError, type LeafErrorCode, messageOf } from '@leaf-ids/core';
import { DATA_CSP } from './content-security';

/** RFC 9457 problem details. */
export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly code: LeafErrorCode;
  readonly detail: string;
}

/** Headers of every response: a cache must not store IDs, and a browser must not guess their type. */
export const COMMON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
/**
 * Headers of every response except a single ID, which they would make two fifths larger: with nosniff, no browser shows
 * digits in text/plain as a page. A page replaces the policy by its own.
 */
export const API_HEADERS = {
  ...COMMON_HEADERS,
  'referrer-policy': 'no-referrer',
  'content-security-policy': DATA_CSP,
};
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export function problemOf(error: LeafError): Problem {
  return { type: 'about:blank', title: error.title, status: error.status, code: error.code, detail: error.message };
}

/** For `Retry-After` where the end of the fault is unknown. */
export const RETRY_AFTER_S = 1;

/** Whole seconds for `Retry-After`; undefined if a retry cannot succeed. */
function retryAfterOf(error: LeafError): number | undefined {
  if (error.status !== 503 && error.status !== 429) return undefined;
  return error.retryAfterMs === undefined ? RETRY_AFTER_S : Math.max(1, Math.ceil(error.retryAfterMs / 1000));
}

export function sendProblem(error: LeafError, reply: FastifyReply): void {
  const seconds = retryAfterOf(error);
  if (seconds !== undefined) void reply.header('retry-after', String(seconds));
  void reply.headers(API_HEADERS).header('content-type', PROBLEM_TYPE).status(error.status);
  void reply.send(JSON.stringify(problemOf(error)));
}

/** Faults that the HTTP framework finds before a handler runs, by the code of the framework. */
const FRAMEWORK_FAULTS: Readonly<Record<string, readonly [LeafErrorCode, string]>> = {
  FST_ERR_BAD_URL: ['LEAF_REQUEST_INVALID', 'The path has a malformed percent-encoding. Encode it as UTF-8.'],
  FST_ERR_MAX_PARAM_LENGTH: ['LEAF_URL_TOO_LONG', 'A part of the path is too long: a tag has at most 128 characters.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['LEAF_MEDIA_TYPE_UNSUPPORTED', 'Send the body as application/json.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['LEAF_BODY_TOO_LARGE', 'The body is larger than 64 KiB.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['LEAF_BODY_INVALID', 'The body is not as long as Content-Length says.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['LEAF_BODY_INVALID', 'The body is empty: send a JSON value, or no Content-Type.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['LEAF_BODY_INVALID', 'The body is not valid JSON.'],
};

const BY_STATUS: Readonly<Record<number, LeafErrorCode>> = {
  404: 'LEAF_NOT_FOUND',
  408: 'LEAF_REQUEST_TIMEOUT',
  413: 'LEAF_BODY_TOO_LARGE',
  414: 'LEAF_URL_TOO_LONG',
  415: 'LEAF_MEDIA_TYPE_UNSUPPORTED',
  431: 'LEAF_HEADERS_TOO_LARGE',
};

export function noRoute(): LeafError {
  return new LeafError(
    'LEAF_NOT_FOUND',
    'There is no such route. IDs: GET /api/segment/get/:tag and GET /api/snowflake/get/:key.',
  );
}

/** The error of the catalogue for anything that was thrown while a request was answered. */
export function toLeafError(thrown: unknown, method: string): LeafError {
  if (thrown instanceof LeafError) return thrown;
  // Nest wraps what the parser of a body throws.
  const known = FRAMEWORK_FAULTS[codeOf(thrown instanceof HttpException ? thrown.cause : thrown) ?? ''];
  if (known !== undefined) return new LeafError(known[0], known[1], { cause: thrown });
  const status =
    thrown instanceof HttpException ? thrown.getStatus() : (thrown as { statusCode?: unknown } | undefined)?.statusCode;
  if (status === 404) return noRoute();
  if (status === 400 && method !== 'GET' && method !== 'HEAD') {
    return new LeafError('LEAF_BODY_INVALID', 'The body is not valid JSON.', { cause: thrown });
  }
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new LeafError(
      BY_STATUS[status] ?? 'LEAF_REQUEST_INVALID',
      `The request was refused: ${messageOf(thrown)}.`,
      { cause: thrown },
    );
  }
  return new LeafError('LEAF_INTERNAL', 'Internal error; the log of the server has the details.', {
    cause: thrown,
  });
}
