import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, LeafError, type LeafErrorCode } from '@leaf-ids/core';
import { codeOf, internalError, messageOf, sendProblem } from '@leaf-ids/core/internal';
import { withVariables } from '../../config/variables';
import { DATA_CSP } from './html';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id';

declare module 'fastify' {
  interface FastifyInstance {
    lastFailure: LastFailure;
  }
}

/** Headers of every response: no cache can repeat an ID, and no browser sniffs another content type. */
export const COMMON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
/**
 * Headers of every response except a single ID. Browsers do not render digits in text/plain with nosniff as a page, and
 * the two headers would make that response 40 % larger. Pages replace the policy with their own.
 */
export const API_HEADERS = {
  ...COMMON_HEADERS,
  'referrer-policy': 'no-referrer',
  'content-security-policy': DATA_CSP,
};

/** Responds as the filter of applications does, with the headers of this server. */
export function respondWithProblem(error: LeafError, reply: FastifyReply): void {
  const requestId = requestIdOf(reply.request.raw);
  reply.server.lastFailure.note(error);
  void reply.headers(API_HEADERS).header(REQUEST_ID_HEADER, requestId);
  sendProblem(error, reply, requestId);
}

/** Errors that Fastify detects before a handler runs, by their Fastify code. */
const FRAMEWORK_FAULTS: Readonly<Record<string, readonly [LeafErrorCode, string]>> = {
  FST_ERR_BAD_URL: ['LEAF_REQUEST_INVALID', 'The path has an invalid percent-encoding. Encode it as UTF-8.'],
  FST_ERR_MAX_PARAM_LENGTH: ['LEAF_URL_TOO_LONG', 'A path segment is too long: a tag has at most 128 characters.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['LEAF_MEDIA_TYPE_UNSUPPORTED', 'Send the body as application/json.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['LEAF_BODY_TOO_LARGE', 'The body is larger than 64 KiB.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['LEAF_BODY_INVALID', 'The length of the body does not match Content-Length.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['LEAF_BODY_INVALID', 'The body is empty. Send a JSON value, or omit Content-Type.'],
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

/** The error for a path that no route has. */
export function noRoute(): LeafError {
  return new LeafError(
    'LEAF_NOT_FOUND',
    'Unknown route. Request IDs with GET /api/segment/get/:tag or GET /api/snowflake/get/:key.',
  );
}

/** An error of the libraries whose message names variables in place of options. */
function inSettings(error: LeafError): LeafError {
  const message = withVariables(error.message);
  if (message === error.message) return error;
  const { code, cause, retryAfterMs, status } = error;
  return new LeafError(code, message, { cause, status, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

/** The error for a route of operators on the public port. */
export function onManagementPort(): LeafError {
  return new LeafError(
    'LEAF_NOT_FOUND',
    'This server has a management port (LEAF_MANAGEMENT_PORT), which alone serves this route.',
  );
}

/** Converts anything thrown during a request to an error of the catalogue. */
export function toLeafError(thrown: unknown, method: string): LeafError {
  if (thrown instanceof LeafError) return inSettings(thrown);
  // Nest wraps the errors of the body parser.
  const known = FRAMEWORK_FAULTS[codeOf(thrown instanceof HttpException ? thrown.cause : thrown) ?? ''];
  if (known !== undefined) return new LeafError(known[0], known[1], { cause: thrown });
  const status =
    thrown instanceof HttpException ? thrown.getStatus() : (thrown as { statusCode?: unknown } | undefined)?.statusCode;
  if (status === 404) return noRoute();
  if (status === 400 && method !== 'GET' && method !== 'HEAD') {
    return new LeafError('LEAF_BODY_INVALID', 'The body is not valid JSON.', { cause: thrown });
  }
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new LeafError(BY_STATUS[status] ?? 'LEAF_REQUEST_INVALID', `Invalid request: ${messageOf(thrown)}.`, {
      cause: thrown,
    });
  }
  return internalError(thrown);
}

/** Responds to every exception with a problem document. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger(ProblemFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const error = toLeafError(thrown, request.method);
    if (error.status === 500) {
      this.logger.error(
        {
          message: `${request.method} ${request.routeOptions.url ?? 'unknown route'} failed`,
          requestId: requestIdOf(request.raw),
        },
        causeStack(error.cause),
      );
    }
    respondWithProblem(error, reply);
  }
}

function causeStack(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}

/** A response with a status of 500 or above. */
export interface ServerFailure {
  /** Unix milliseconds. */
  readonly at: number;
  readonly code: string;
  readonly message: string;
}

/** The latest failed response of this process, except for refusals because of overload. */
export class LastFailure {
  latest: ServerFailure | undefined;

  constructor(private readonly clock: Clock) {}

  /** Keeps the error if it is a failure of the server. */
  note({ status, code, message }: LeafError): void {
    if (status >= 500 && code !== 'LEAF_OVERLOADED') this.latest = { at: this.clock.now(), code, message };
  }
}
