import type { ServerResponse } from 'node:http';
import { LeafError } from '@leaf/core';
import { COMMON_HEADERS, PROBLEM_TYPE, problemOf } from './problem';

const RETRY_AFTER_S = 1;
const BODY = JSON.stringify(
  problemOf(
    new LeafError(
      'LEAF_OVERLOADED',
      `This server is asked for more than it can do. Ask another one, or again in ${RETRY_AFTER_S} s.`,
    ),
  ),
);
/** Made once: a refusal has to cost much less than what it refuses. */
const HEADERS = [
  ...Object.entries(COMMON_HEADERS).flat(),
  ...['content-type', PROBLEM_TYPE],
  ...['content-length', String(Buffer.byteLength(BODY))],
  ...['retry-after', String(RETRY_AFTER_S)],
];

/** Answers `LEAF_OVERLOADED`, ahead of the framework. */
export function refuse(response: ServerResponse): void {
  response.writeHead(503, HEADERS);
  response.end(BODY);
}
