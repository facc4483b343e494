import { type Clock, LeafError } from '@leaf-ids/core';
import { isErrorCode, parseProblem } from '@leaf-ids/core/internal';
import { ServerFault } from '../servers/server-fault';
import type { HttpAnswer } from './http-connection';

/** Upper limit for `Retry-After`. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Converts a response other than 200: to the `LeafError` of a Leaf server, or else to a fault of the server or of a
 * proxy in front of it.
 */
export function refusalOf(answer: HttpAnswer, clock: Clock): LeafError | ServerFault {
  const { status } = answer;
  const retryAfterMs = status === 503 || status === 429 ? parseRetryAfter(answer.retryAfter, clock) : undefined;
  const problem = parseProblem(answer.contentType, answer.text);
  if (problem === undefined) {
    const hint = status >= 300 && status < 400 ? '; redirects are not followed' : '';
    return new ServerFault(`status ${status} without an error of a Leaf server${hint}`, retryAfterMs);
  }
  const { code, detail } = problem;
  if (isErrorCode(code)) {
    if (code === 'LEAF_INTERNAL') return new ServerFault(`status ${status} ${code}: ${detail}`);
    return new LeafError(code, detail, { status, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  }
  const unknown = `The server returned ${status} ${code}, which is unknown to this client: ${detail}`;
  const isFinal = status >= 400 && status < 500 && status !== 429;
  return isFinal ? new LeafError('LEAF_REQUEST_INVALID', unknown) : new ServerFault(unknown, retryAfterMs);
}

/** Parses seconds or a date. */
function parseRetryAfter(header: string | undefined, clock: Clock): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - clock.now();
  return Number.isNaN(ms) ? undefined : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms));
}
