import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, LeafError } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import type { AccessLogConfig, HttpLimits } from '../../config/leaf-config';
import type { Drain } from '../../lifecycle/drain';
import type { OverloadCounts } from '../overload/refusals';
import type { RequestCounts } from '../request-counts';
import { networkOf } from '../../tokens/client-network';
import type { TokenGuard } from '../../tokens/token-check';
import { AccessLog } from '../access-log';
import { type FastPath, SEGMENT_ROUTE, SNOWFLAKE_ROUTE } from '../fast-path';
import { Admission } from '../overload/admission';
import { Connections, PendingResponses } from '../overload/connections';
import { Pipelines } from '../overload/pipelines';
import { type RouteKind, routeKind } from '../overload/route-kind';
import { ChunkQueue } from '../responses/stream-body';
import {
  API_HEADERS,
  COMMON_HEADERS,
  LastFailure,
  noRoute,
  onManagementPort,
  respondWithProblem,
  toLeafError,
} from '../responses/problem';
import { FaultResponder } from './fault-responder';
import { HttpServer } from './http-server';
import { takeJsonBodies } from './json-body';
import type { ManagementPort } from './management-port';
import { RouteMethods } from './route-methods';

declare module 'fastify' {
  interface FastifyReply {
    /** False until the request has its turn; a request that is refused before that is not counted as answered. */
    admitted: boolean;
  }
}

const MAX_BODY_BYTES = 65_536;
/** A tag of 128 percent-encoded characters, and room for longer ones, which the routes refuse with a reason. */
const MAX_PARAM_LENGTH = 1600;

/** Connections to the management port at once. */
const MANAGEMENT_CONNECTIONS = 128;

export interface AdapterParts {
  readonly limits: HttpLimits;
  readonly clock: Clock;
  /** Undefined: the framework answers every request. */
  readonly fastPath: FastPath | undefined;
  readonly counts: RequestCounts;
  readonly overload: OverloadCounts;
  readonly drain: Drain;
  /** Undefined: requests are not logged. */
  readonly accessLog: AccessLogConfig | undefined;
  readonly management: ManagementPort;
}

/** Fastify for Nest, with the fast path and the overload protection ahead of it, and limits on what comes in. */
export function createAdapter(parts: AdapterParts): FastifyAdapter {
  const { limits, clock, fastPath, counts, overload, drain, management } = parts;
  const pending = new PendingResponses();
  const isBusy = (socket: Socket): boolean => pending.isBusy(socket);
  const connections = new Connections(limits.maxConnections, clock, overload, isBusy);
  const pipelines = new Pipelines(overload);
  const admission = new Admission(limits, connections, pending, clock, overload);
  const faults = new FaultResponder(counts);
  const routes = new RouteMethods();
  const accessLog = accessLogOf(parts, routes);
  const adapter = new FastifyAdapter({
    serverFactory: (handler: RequestListener): Server => {
      const shared = { limits, pipelines, pending, faults, accessLog, handler };
      if (management.isOn) {
        const operators = new Connections(MANAGEMENT_CONNECTIONS, clock, overload, isBusy);
        const server = new HttpServer({ ...shared, connections: operators, fastPath: undefined });
        server.on('clientError', (error, socket) => faults.answerClientError(error, socket));
        management.attach(server);
      }
      return new HttpServer({ ...shared, connections, fastPath });
    },
    clientErrorHandler: (error, socket) => faults.answerClientError(error, socket),
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      const fault = toLeafError(error, request.method);
      faults.count(fault);
      respondWithProblem(fault, reply);
    },
    trustProxy: [...limits.trustedProxies],
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    return503OnClosing: false,
    skipMiddie: true,
    multipart: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  });
  const fastify = adapter.getInstance();
  fastify.decorate('chunks', new ChunkQueue(clock));
  fastify.decorate('lastFailure', new LastFailure(clock));
  takeJsonBodies(fastify);
  admitRequests(fastify, admission, fastPath, management);
  fastify.addHook('onRequest', ({ routeOptions: { url } }, reply, done) => {
    void reply.headers(url === SEGMENT_ROUTE || url === SNOWFLAKE_ROUTE ? COMMON_HEADERS : API_HEADERS);
    if (drain.active) void reply.header('connection', 'close');
    done();
  });
  refuseUnknownRoutes(fastify, routes, management);
  fastify.addHook('onResponse', (request, reply, done) => {
    if (reply.admitted)
      counts.record(counts.of(request.routeOptions.url ?? 'unknown', reply.statusCode), reply.elapsedTime);
    done();
  });
  fastify.addHook('preClose', (done) => {
    management.close();
    done();
  });
  fastify.addHook('onClose', () => management.whenClosed());
  return adapter;
}

function accessLogOf({ accessLog, limits, clock }: AdapterParts, routes: RouteMethods): AccessLog | undefined {
  if (accessLog === undefined) return undefined;
  const { trustedProxies } = limits;
  const routeOf = (path: string): string | undefined => routes.find(path);
  return new AccessLog({ config: accessLog, trustedProxies, routeOf, clock, random: systemRandom });
}

/**
 * Every other hook and the handler of a route run when the request has its turn; of a command or a request for a worker
 * window, the handler.
 */
function admitRequests(
  fastify: FastifyInstance,
  admission: Admission,
  fastPath: FastPath | undefined,
  management: ManagementPort,
): void {
  fastify.decorateReply('admitted', false);
  fastify.addHook('onRequest', (request, reply, done) => {
    const {
      raw,
      method,
      routeOptions: { url },
    } = request;
    const kind = routeKind(method, url);
    const isServed = management.serves(raw.socket, kind);
    // The refusal of a route that is not served here is cheap.
    admission.pass(
      isServed ? kind : 'probe',
      () => networkOf(request.ip),
      reply.raw,
      () => {
        reply.admitted = true;
        if (!isServed) {
          respondWithProblem(onManagementPort(), reply);
          return;
        }
        const refusal = fastPath?.refusalOf(raw);
        if (refusal === undefined) done();
        else respondWithProblem(toLeafError(refusal, method), reply);
      },
    );
  });
  fastify.addHook('preValidation', (request, reply, done) => {
    const kind = routeKind(request.method, request.routeOptions.url);
    reply.admitted = false;
    admission.passBody(
      kind,
      () => networkOf(request.ip),
      reply.raw,
      () => {
        reply.admitted = true;
        done();
      },
    );
  });
}

/** Refuses requests without a valid token before their body is read: it would wait, and others behind it. */
export function checkTokensFirst(
  fastify: FastifyInstance,
  guards: Readonly<Partial<Record<RouteKind, TokenGuard>>>,
): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const guard = guards[routeKind(request.method, request.routeOptions.url)];
    try {
      guard?.admit(request, reply);
    } catch (refusal) {
      respondWithProblem(toLeafError(refusal, request.method), reply);
      return;
    }
    done();
  });
}

/** Answers requests without a route, before their body is read: 405 if the path has a route for other methods. */
function refuseUnknownRoutes(fastify: FastifyInstance, routes: RouteMethods, management: ManagementPort): void {
  fastify.addHook('onRoute', ({ url, method }) => routes.add(url, [method].flat()));
  fastify.addHook('preParsing', ({ raw, method, url, routeOptions }, reply, body, done) => {
    if (routeOptions.url !== undefined) {
      done(null, body);
      return;
    }
    const isServed = (route: string): boolean => management.serves(raw.socket, routeKind(method, route));
    const allowed = routes.allowed(url.split('?', 1)[0] ?? '', isServed);
    if (allowed === undefined) respondWithProblem(noRoute(), reply);
    else respondWithProblem(methodNotAllowed(method, allowed), reply.header('allow', allowed));
  });
}

function methodNotAllowed(method: string, allowed: string): LeafError {
  return new LeafError('LEAF_METHOD_NOT_ALLOWED', `This route does not support ${method}. It supports ${allowed}.`);
}

/** Replaces the schema compilers, which would be loaded at every start although no route has a schema. */
function noSchemas(): never {
  throw new Error('Routes have no schemas here: the pipes check what comes in.');
}
