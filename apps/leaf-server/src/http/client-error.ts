import type { Socket } from 'node:net';
import { LeafError } from '@leaf/core';
import { PROBLEM_TYPE, problemOf } from './problem';

/** Answers what is not even HTTP, or too much of it, on the bare socket. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = problemOf(clientError(error.code));
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
  ].join('\r\n');
  socket.end(`${head}\r\n\r\n${body}`);
}

function clientError(code: string | undefined): LeafError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new LeafError('LEAF_REQUEST_TIMEOUT', 'The request did not arrive in time. Send it whole, at once.');
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new LeafError('LEAF_HEADERS_TOO_LARGE', 'The headers are larger than 16 KiB. Send fewer or shorter ones.');
  }
  return new LeafError('LEAF_REQUEST_INVALID', 'That is not a valid HTTP/1.1 request.');
}
