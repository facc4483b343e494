import type { RequestListener, Server } from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '@leaf-ids/core';
import type { HttpLimits } from '../../config/http-limits';
import type { Drain } from '../../lifecycle/drain';
import type { OverloadCounts } from '../overload/overload-counts';
import type { RequestCounts } from '../request-counts';
import { answerClientError } from './client-error';
import { type FastPath, SEGMENT_ROUTE, SNOWFLAKE_ROUTE } from '../fast-path';
import { HttpServer } from './http-server';
import { takeJsonBodies } from './json-body';
import { API_HEADERS, COMMON_HEADERS, sendProblem, toLeafError } from '../responses/problem';

const MAX_BODY_BYTES = 65_536;
/** A tag of 128 characters, each percent-encoded, and room to say what is wrong with a longer one. */
const MAX_PARAM_LENGTH = 1024;

export interface AdapterParts {
  readonly limits: HttpLimits;
  readonly clock: Clock;
  readonly fastPath: FastPath;
  readonly counts: RequestCounts;
  readonly overload: OverloadCounts;
  readonly drain: Drain;
}

/** Fastify for Nest, with the fast route ahead of it, and limits on what comes in. */
export function createAdapter({ limits, clock, fastPath, counts, overload, drain }: AdapterParts): FastifyAdapter {
  const adapter = new FastifyAdapter({
    serverFactory: (handler: RequestListener): Server => new HttpServer(limits, clock, overload, fastPath, handler),
    clientErrorHandler: answerClientError,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      sendProblem(toLeafError(error, request.method), reply);
    },
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    return503OnClosing: false,
    skipMiddie: true,
    multipart: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  });
  const fastify = adapter.getInstance();
  takeJsonBodies(fastify);
  fastify.addHook('onRequest', ({ raw, method, routeOptions: { url } }, reply, done) => {
    void reply.headers(url === SEGMENT_ROUTE || url === SNOWFLAKE_ROUTE ? COMMON_HEADERS : API_HEADERS);
    if (drain.active) void reply.header('connection', 'close');
    const refusal = fastPath.refusalOf(raw);
    if (refusal === undefined) done();
    else sendProblem(toLeafError(refusal, method), reply);
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    counts.record(counts.of(request.routeOptions.url ?? 'unknown', reply.statusCode), reply.elapsedTime);
    done();
  });
  return adapter;
}

/** No route has a schema that the framework checks. It would load what compiles them at every start all the same. */
function noSchemas(): never {
  throw new Error('Routes have no schemas here: the pipes check what comes in.');
}
