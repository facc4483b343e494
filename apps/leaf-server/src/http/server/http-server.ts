import { type RequestListener, Server } from 'node:http';
import { type Clock, LeafError } from '@leaf-ids/core';
import type { OverloadCounts } from '../overload/overload-counts';
import type { HttpLimits } from '../../config/http-limits';
import { Admission } from '../overload/admission';
import { PendingResponses } from '../overload/pending-responses';
import { answerFault, protocolFault } from './client-error';
import { Connections } from '../overload/connections';
import type { FastPath } from '../fast-path';

const LIMITS = {
  /** Told by Node without a word; {@link protocolFault} says it. */
  requireHostHeader: false,
  /** Bytes of request line and headers. */
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  /** How often the two above are looked at. */
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 65_000,
};
/** Beyond the longest wait of a request: nothing is read or written for so long, and the connection ends. */
const STALL_MS = 15_000;
/** Beyond the longest wait of a request: what a client may take for an answer when the server stops. */
const LAST_ANSWERS_MS = 2000;

/** HTTP with the fast route and the protection against overload ahead of the framework. */
export class HttpServer extends Server {
  private readonly openConnections: Connections;
  private readonly pending = new PendingResponses();

  constructor(
    private readonly limits: HttpLimits,
    clock: Clock,
    counts: OverloadCounts,
    fastPath: FastPath,
    handler: RequestListener,
  ) {
    super(LIMITS);
    const connections = new Connections(limits.maxConnections, limits.dealt, clock, counts);
    const answer: RequestListener = (request, response) => {
      if (!fastPath.answerLater(request, response, handler)) handler(request, response);
    };
    const admission = new Admission(limits, connections, this.pending, clock, counts, answer);
    this.openConnections = connections;
    this.setTimeout(limits.waitMs + STALL_MS);
    connections.watch(this);
    this.on('request', (request, response) => {
      const fault = protocolFault(request);
      if (fault !== undefined) answerFault(fault, response);
      else if (connections.crowded && connections.isSurplus(request.socket)) admission.pass(request, response);
      else if (!fastPath.answer(request, response)) admission.pass(request, response);
    });
    this.on('checkExpectation', (_request, response) => {
      answerFault(new LeafError('LEAF_REQUEST_INVALID', 'No expectation but 100-continue is met here.'), response);
    });
  }

  /**
   * The framework, and Node itself, call this when the server closes. Node would cut answers that are made and not sent
   * yet, and wait for ever for a connection on which no request has come.
   */
  override closeIdleConnections(): void {
    const { waitMs } = this.limits;
    void this.openConnections.end(() => this.pending.endConnections(), waitMs + LAST_ANSWERS_MS);
  }
}
