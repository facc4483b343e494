import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LeafError } from '@leaf-ids/core';
import { PROBLEM_TYPE, problemOf } from '@leaf-ids/core/internal';
import type { HttpSocket } from '../overload/connections';
import type { RequestCounts } from '../request-counts';
import { MAX_HEADERS } from '../connection/request-reader';
import { API_HEADERS } from '../responses/problem';
import { REQUEST_ID_HEADER, requestIdOf } from '../responses/request-id';

/** The `route` label of requests that never reach a route. */
const ROUTE = 'invalid';

/** Answers and counts requests that are not valid HTTP; each ends its connection. */
export class FaultResponder {
  /** Connections whose next bytes came with a request that was answered without Node.js. */
  readonly answeredAhead = new WeakSet<Duplex>();

  constructor(private readonly counts: RequestCounts) {}

  /** Answers bytes that the parser refuses. */
  answerClientError(error: Partial<NodeJS.ErrnoException>, stream: Duplex): void {
    const socket = stream as HttpSocket;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const fault = clientError(error.code);
    this.count(fault);
    if (isAnswering(socket) || this.answeredAhead.has(socket)) {
      // Unlike destroy(), this sends what is written first.
      socket.destroySoon();
      return;
    }
    const body = JSON.stringify(problemOf(fault));
    const headers = Object.entries(headersFor(body)).map(([name, value]) => `${name}: ${value}`);
    socket.end([`HTTP/1.1 ${fault.status} ${fault.title}`, ...headers, '', body].join('\r\n'));
  }

  /** Answers a request that the parser accepts and {@link protocolFault} does not. */
  answer(fault: LeafError, response: ServerResponse): void {
    this.count(fault);
    const requestId = requestIdOf(response.req);
    const body = JSON.stringify(problemOf(fault, requestId));
    response.writeHead(fault.status, { ...headersFor(body), [REQUEST_ID_HEADER]: requestId }).end(body);
  }

  count({ status }: LeafError): void {
    this.counts.record(this.counts.of(ROUTE, status), 0);
  }
}

/** Whether the client would take what comes next for the response to an earlier request, or for a part of it. */
function isAnswering({ _httpMessage: response }: HttpSocket): boolean {
  return response?.headersSent === true || response?.req.complete === true;
}

function headersFor(body: string): Record<string, string> {
  return {
    ...API_HEADERS,
    'content-type': PROBLEM_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
}

/** A fault that the parser accepts and HTTP/1.1 or this server forbids; undefined if there is none. */
export function protocolFault(request: IncomingMessage): LeafError | undefined {
  const { httpVersionMajor, httpVersionMinor, headers } = request;
  if (httpVersionMajor !== 1) {
    return new LeafError('LEAF_REQUEST_INVALID', 'This server supports HTTP/1.1 and HTTP/1.0 only.');
  }
  if (request.rawHeaders.length > 2 * MAX_HEADERS) {
    const message = `The request has more than ${MAX_HEADERS} headers. Send fewer.`;
    return new LeafError('LEAF_HEADERS_TOO_LARGE', message);
  }
  const hosts = countHosts(request.rawHeaders);
  if (hosts > 1) return new LeafError('LEAF_REQUEST_INVALID', 'The request has more than one Host header.');
  if (hosts === 0 && httpVersionMinor === 1) {
    return new LeafError('LEAF_REQUEST_INVALID', 'HTTP/1.1 requires a Host header.');
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked')) {
    // The parser would notice after the response, or never; a proxy may have seen another end of the request.
    return new LeafError('LEAF_REQUEST_INVALID', 'The only transfer coding is "chunked", and HTTP/1.0 has none.');
  }
  return undefined;
}

/** Node.js keeps the first of several and drops the others. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts;
}

function clientError(code: string | undefined): LeafError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new LeafError('LEAF_REQUEST_TIMEOUT', 'The request did not arrive in time. Send it without pauses.');
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new LeafError('LEAF_HEADERS_TOO_LARGE', 'The headers are larger than 16 KiB. Send fewer or shorter ones.');
  }
  return new LeafError('LEAF_REQUEST_INVALID', 'The request is not valid HTTP/1.1.');
}
