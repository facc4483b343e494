import { createServer, type RequestListener, type Server } from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LeafError } from '@leaf/core';
import type { Drain } from '../health/drain';
import type { RequestCounts } from '../metrics/request-counts';
import { answerClientError, answerFault, protocolFault } from './client-error';
import { COMMON_HEADERS, sendProblem, toLeafError } from './problem';
import type { SingleIdRoute } from './single-id.route';

const LIMITS = {
  /** Told by Node without a word; {@link protocolFault} says it. */
  requireHostHeader: false,
  /** Bytes of request line and headers. */
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 65_000,
};
const MAX_BODY_BYTES = 65_536;
/** A tag of 128 characters, each percent-encoded, and room to say what is wrong with a longer one. */
const MAX_PARAM_LENGTH = 1024;

/** Fastify for Nest, with the fast route ahead of it, and limits on what comes in. */
export function createAdapter(fastRoute: SingleIdRoute, counts: RequestCounts, drain: Drain): FastifyAdapter {
  const adapter = new FastifyAdapter({
    serverFactory: (handler: RequestListener) => createHttpServer(fastRoute, handler),
    clientErrorHandler: answerClientError,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      sendProblem(toLeafError(error, request.method), reply);
    },
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    return503OnClosing: false,
    skipMiddie: true,
    multipart: false,
  });
  const fastify = adapter.getInstance();
  fastify.addHook('onRequest', (_request, reply, done) => {
    void reply.headers(COMMON_HEADERS);
    if (drain.active) void reply.header('connection', 'close');
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const count = counts.of(request.routeOptions.url ?? 'unknown', reply.statusCode);
    count.requests++;
    count.latency.record(reply.elapsedTime);
    done();
  });
  return adapter;
}

function createHttpServer(fastRoute: SingleIdRoute, handler: RequestListener): Server {
  const server = createServer(LIMITS, (request, response) => {
    const fault = protocolFault(request);
    if (fault !== undefined) answerFault(fault, response);
    else if (!fastRoute.answer(request, response)) handler(request, response);
  });
  server.on('checkExpectation', (_request, response) => {
    answerFault(new LeafError('LEAF_REQUEST_INVALID', 'No expectation but 100-continue is met here.'), response);
  });
  return server;
}
