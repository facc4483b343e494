import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LeafError } from '@leaf-ids/core';
import { API_HEADERS, PROBLEM_TYPE, problemOf } from '../responses/problem';

/** As Node marks it: with the response that is under way on it. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
}

/** Answers what is not even HTTP, or too much of it, on the bare socket. */
export function answerClientError(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  if (isAnswering(socket)) {
    // What is written of the answer goes out first.
    socket.destroySoon();
    return;
  }
  const problem = problemOf(clientError(error.code));
  const body = JSON.stringify(problem);
  const headers = Object.entries(headersFor(body)).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${problem.status} ${problem.title}`, ...headers, '', body].join('\r\n'));
}

/** Whether the client would take what comes next for the answer to a request before, or for a part of it. */
function isAnswering({ _httpMessage: response }: HttpSocket): boolean {
  return response?.headersSent === true || response?.req.complete === true;
}

/** Answers a request that never reaches the framework, and ends the connection. */
export function answerFault(error: LeafError, response: ServerResponse): void {
  const body = JSON.stringify(problemOf(error));
  response.writeHead(error.status, headersFor(body)).end(body);
}

function headersFor(body: string): Record<string, string> {
  return {
    ...API_HEADERS,
    'content-type': PROBLEM_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
}

/** What the parser lets pass, and HTTP/1.1 forbids; undefined when there is nothing wrong. */
export function protocolFault({ httpVersionMajor, httpVersionMinor, headers }: IncomingMessage): LeafError | undefined {
  if (httpVersionMajor !== 1)
    return new LeafError('LEAF_REQUEST_INVALID', 'Only HTTP/1.1 and HTTP/1.0 are spoken here.');
  if (headers.host === undefined && httpVersionMinor === 1) {
    return new LeafError('LEAF_REQUEST_INVALID', 'HTTP/1.1 needs a Host header.');
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked')) {
    // The parser would notice after the answer, or never: whoever stands in between may have seen another end of it.
    return new LeafError('LEAF_REQUEST_INVALID', 'The only transfer coding is "chunked", and HTTP/1.0 has none.');
  }
  return undefined;
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
