import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { LeafError } from '@leaf/core';
import { COMMON_HEADERS, PROBLEM_TYPE, problemOf } from './problem';

/** Answers what is not even HTTP, or too much of it. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else answerOnSocket(clientError(error.code), socket);
}

/** What the parser lets pass, and HTTP/1.1 forbids; undefined when there is nothing wrong. */
export function protocolFault({ httpVersionMajor, httpVersionMinor, headers }: IncomingMessage): LeafError | undefined {
  if (httpVersionMajor !== 1)
    return new LeafError('LEAF_REQUEST_INVALID', 'Only HTTP/1.1 and HTTP/1.0 are spoken here.');
  if (headers.host === undefined && httpVersionMinor === 1) {
    return new LeafError('LEAF_REQUEST_INVALID', 'HTTP/1.1 needs a Host header.');
  }
  return undefined;
}

/** Answers on the bare socket, and ends the connection. */
export function answerOnSocket(error: LeafError, socket: Socket): void {
  const problem = problemOf(error);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(COMMON_HEADERS).map(([name, value]) => `${name}: ${value}`),
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
