import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parseTraceparent } from '../../tracing/tracing';

/** Header of a request, and of each error response. */
export const REQUEST_ID_HEADER = 'x-request-id';
export const REQUEST_ID_PATTERN = /^[\w.~:=+/@-]{1,128}$/;

/**
 * Names a request in error responses and in the log: the trace ID of `traceparent`, else a valid `x-request-id`, else a
 * new UUID. Later calls for the same request return the same ID.
 */
export function requestIdOf({ headers }: IncomingMessage): string {
  const traceId = parseTraceparent(headers)?.traceId;
  if (traceId !== undefined) return traceId;
  const given = headers[REQUEST_ID_HEADER];
  if (typeof given === 'string' && REQUEST_ID_PATTERN.test(given)) return given;
  const made = randomUUID();
  headers[REQUEST_ID_HEADER] = made;
  return made;
}
