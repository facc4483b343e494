import { type IncomingMessage, type RequestListener, Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LeafError } from '@leaf-ids/core';
import type { HttpLimits } from '../../config/leaf-config';
import type { Connections, PendingResponses } from '../overload/connections';
import type { Pipelines } from '../overload/pipelines';
import { plainForwarded } from '../../tokens/client-network';
import type { AccessLog } from '../access-log';
import { IdConnection } from '../connection/id-connection';
import { IdleTimer } from '../../connections/idle-timer';
import { STALL_MS } from '../../connections/paced-connection';
import { MAX_HEADERS } from '../connection/request-reader';
import { ResponseHeads } from '../connection/response-heads';
import type { FastPath } from '../fast-path';
import { mapAsSpring } from '../java-requests';
import { type FaultResponder, protocolFault } from './fault-responder';

const OPTIONS = {
  /** Node.js would answer without a body; {@link protocolFault} checks the header. */
  requireHostHeader: false,
  /** Bytes of request line and headers. */
  maxHeaderSize: 16_384,
  /** Requests without a body have no stream to end. Only Node.js 24 and later have this option. */
  optimizeEmptyRequests: true,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  /** How often Node.js checks the two timeouts above. */
  connectionsCheckingInterval: 1000,
};
/** Time beyond the longest wait of a request in which clients read their responses at a stop, in milliseconds. */
const LAST_RESPONSES_MS = 2000;

export interface HttpServerParts {
  readonly limits: HttpLimits;
  readonly connections: Connections;
  readonly pipelines: Pipelines;
  readonly pending: PendingResponses;
  readonly faults: FaultResponder;
  /** Undefined: every request is for the framework. */
  readonly fastPath: FastPath | undefined;
  /** Undefined: requests are not logged. */
  readonly accessLog: AccessLog | undefined;
  /** The framework. */
  readonly handler: RequestListener;
}

/** HTTP with the fast path ahead of the framework. Of each connection, one request is in progress at a time. */
export class HttpServer extends Server {
  constructor(private readonly parts: HttpServerParts) {
    super({ ...OPTIONS, keepAliveTimeout: parts.limits.keepAliveMs });
    const { limits, connections, pipelines, faults } = parts;
    this.setTimeout(limits.waitMs + STALL_MS);
    this.maxHeadersCount = MAX_HEADERS;
    this.acceptConnections();
    connections.watch(this);
    this.on('request', (request, response) => {
      faults.answeredAhead.delete(request.socket);
      if (pipelines.isBehind(response)) pipelines.hold(response, () => this.answer(request, response));
      else this.answer(request, response);
    });
    this.on('checkExpectation', (_request, response) => {
      const fault = new LeafError('LEAF_REQUEST_INVALID', 'The only supported expectation is "100-continue".');
      const refuse = (): void => faults.answer(fault, response);
      if (pipelines.isBehind(response)) pipelines.hold(response, refuse);
      else refuse();
    });
  }

  /**
   * The framework and Node.js call this when the server closes. Node.js would cut responses that are made and not sent
   * yet, and wait without a limit for a connection without a request.
   */
  override closeIdleConnections(): void {
    const { connections, pending, limits } = this.parts;
    void connections.end(() => pending.endConnections(), limits.waitMs + LAST_RESPONSES_MS);
  }

  /**
   * Node's own listener is called for the connections that {@link IdConnection} leaves to it; for all without a fast path.
   */
  private acceptConnections(): void {
    const { fastPath, limits, connections, pipelines, pending, accessLog, faults } = this.parts;
    const [parse] = this.listeners('connection') as [(socket: Socket) => void];
    this.removeListener('connection', parse);
    const leaveToNode = (socket: Socket, isAnsweredAhead = false): void => {
      const { timeout = 0 } = socket;
      if (isAnsweredAhead) faults.answeredAhead.add(socket);
      parse.call(this, socket);
      // A connection beyond the limit has its own.
      if (timeout > 0) socket.setTimeout(timeout);
      pipelines.stopParsing(socket);
    };
    if (fastPath === undefined) {
      this.on('connection', (socket) => leaveToNode(socket));
      return;
    }
    const { keepAliveMs } = limits;
    const parts = {
      fastPath,
      heads: new ResponseHeads(fastPath.clock, keepAliveMs),
      timer: new IdleTimer(fastPath.clock),
      answering: pending.answering,
      countBehind: (socket: Socket, bytes: number) => pipelines.countBehind(socket, bytes),
      javaPaths: limits.javaPaths === true,
      isLogged: accessLog !== undefined,
      ...{ keepAliveMs, firstRequestMs: OPTIONS.headersTimeout },
      stallMs: limits.waitMs + STALL_MS,
      isEnding: (socket: Socket) => fastPath.drain.active || connections.closing || connections.isSurplus(socket),
      leaveToNode,
      handle: (request: IncomingMessage, response: ServerResponse) => void this.emit('request', request, response),
      onSilence: (socket: Socket) => {
        if (connections.isSurplus(socket)) socket.destroy();
        else faults.answerClientError({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket);
      },
    };
    this.on('connection', (socket: Socket) => new IdConnection(socket, parts));
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const { connections, faults, fastPath, accessLog, handler, limits } = this.parts;
    if (limits.trustedProxies.length > 0) plainForwarded(request);
    accessLog?.follow(request, response);
    if (limits.javaPaths) mapAsSpring(request);
    const fault = protocolFault(request);
    if (fault !== undefined) {
      faults.answer(fault, response);
      return;
    }
    if (connections.crowded && connections.isSurplus(request.socket)) response.shouldKeepAlive = false;
    if (fastPath?.answer(request, response) !== true) handler(request, response);
  }
}
