import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import { Logger } from '@nestjs/common';
import type * as Api from '@opentelemetry/api';
import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, formatInstance, LeafError, type SegmentStore, type WorkerRegistry } from '@leaf-ids/core';
import { messageOf, withinDeadline, type WorkerClaim } from '@leaf-ids/core/internal';
import type { TracingConfig } from '../config/tracing';
import type { LeafConfig } from '../config/leaf-config';
import { loadSdk, type Sdk } from './sdk';

/** version, trace, parent, flags; a later version may have more. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

interface Traceparent {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

/** The W3C header `traceparent`; undefined if it is missing or invalid. */
export function parseTraceparent({ traceparent }: IncomingHttpHeaders): Traceparent | undefined {
  const found = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent.trim()) : null;
  if (found === null) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = '', more] = found;
  return version === '00' && more !== undefined ? undefined : { traceId, spanId, flags: parseInt(flags, 16) };
}

/** The caller's span, of the W3C headers `traceparent` and `tracestate`; none if they are invalid. */
export function readTraceparent(headers: IncomingHttpHeaders, api: typeof Api): Api.Context {
  const parent = parseTraceparent(headers);
  if (parent === undefined) return api.ROOT_CONTEXT;
  const { traceId, spanId, flags } = parent;
  const { tracestate } = headers;
  return api.trace.setSpanContext(api.ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags & api.TraceFlags.SAMPLED,
    isRemote: true,
    ...(typeof tracestate === 'string' ? { traceState: api.createTraceState(tracestate) } : {}),
  });
}

/** Tells once when traces begin to be lost, and once when they are delivered again. */
class Deliveries {
  private readonly logger = new Logger('Tracing');
  private failing = false;

  /** @param collector as an operator knows it */
  constructor(private readonly collector: string) {}

  /** @param error why the newest delivery failed; undefined when it did not */
  report(error: Error | undefined): void {
    if (this.failing === (error !== undefined)) return;
    this.failing = error !== undefined;
    if (error === undefined) this.logger.log('Traces are delivered again.');
    else this.logger.warn(`Traces are lost because ${this.collector} does not accept them: ${messageOf(error)}`);
  }
}

/** How long a stop waits for the spans that are left to be delivered. */
const CLOSE_LIMIT_MS = 2000;

/** The spans of one server. What runs within a span is its child, wherever it runs. */
export class Tracing {
  private readonly current = new AsyncLocalStorage<Context>();
  private readonly logger = new Logger(Tracing.name);

  private constructor(
    private readonly sdk: Sdk,
    private readonly clock: Clock,
  ) {}

  /** @throws LeafError `LEAF_CONFIG_INVALID` when a package is not installed */
  static async start(config: TracingConfig, clock: Clock): Promise<Tracing> {
    const deliveries = new Deliveries(config.collector);
    const sdk = await loadSdk((error) => deliveries.report(error));
    return new Tracing(sdk, clock);
  }

  /** One span for `call`; `outcome` adds what is known only afterwards. */
  async span<T>(
    name: string,
    attributes: Attributes,
    call: () => Promise<T>,
    outcome: (result: T) => Attributes = () => ({}),
  ): Promise<T> {
    const { api, tracer } = this.sdk;
    const parent = this.current.getStore() ?? api.ROOT_CONTEXT;
    const span = tracer.startSpan(name, { kind: api.SpanKind.CLIENT, attributes }, parent);
    try {
      const result = await this.current.run(api.trace.setSpan(parent, span), call);
      span.setAttributes(outcome(result));
      return result;
    } catch (error) {
      this.fail(span, error instanceof LeafError ? error.code : 'fault', messageOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  /** One span for each request that `fastify` answers, the child of the caller's. */
  traceRequests(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      const parent = readTraceparent(request.headers, this.sdk.api);
      const span = this.requestSpan(request, parent);
      // Also what is cut off before it is answered closes.
      reply.raw.once('close', () => this.endRequest(span, reply));
      this.current.run(this.sdk.api.trace.setSpan(parent, span), done);
    });
  }

  /** Delivers what is left, within bounds. */
  async close(): Promise<void> {
    const delivered = this.sdk.shutdown().catch(() => undefined);
    const inTime = await withinDeadline(delivered, this.clock.monotonic() + CLOSE_LIMIT_MS, this.clock);
    if (!inTime) this.logger.warn(`The last traces were not delivered within ${CLOSE_LIMIT_MS} ms and are lost.`);
  }

  private requestSpan({ method, routeOptions, url }: FastifyRequest, parent: Context): Span {
    const { api, tracer } = this.sdk;
    const attributes = {
      'http.request.method': method,
      'url.scheme': 'http',
      'url.path': pathWithoutLease(url.split('?', 1)[0] ?? '', routeOptions.url),
      ...(routeOptions.url === undefined ? {} : { 'http.route': routeOptions.url }),
    };
    const name = routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`;
    return tracer.startSpan(name, { kind: api.SpanKind.SERVER, attributes }, parent);
  }

  private endRequest(span: Span, { raw, statusCode }: FastifyReply): void {
    if (raw.writableFinished) span.setAttribute('http.response.status_code', statusCode);
    if (!raw.writableFinished) this.fail(span, 'aborted', 'The connection was closed before the answer.');
    else if (statusCode >= 500) this.fail(span, String(statusCode));
    span.end();
  }

  private fail(span: Span, type: string, message?: string): void {
    span.setAttribute('error.type', type);
    span.setStatus({ code: this.sdk.api.SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) });
  }
}

/** A lease is a secret: it allows to release the worker ID. */
function pathWithoutLease(path: string, route?: string): string {
  return route?.includes(':lease') === true ? route : path.replace(/(\/workers\/)[^/]+/i, '$1REDACTED');
}

/** The modes with spans around what they ask of the database and the worker registry. */
export function traced({ segment, snowflake }: LeafConfig['ids'], tracing: Tracing): LeafConfig['ids'] {
  return {
    ...(segment && {
      segment: {
        ...segment,
        wrapStore: (store: SegmentStore) => tracedStore(segment.wrapStore?.(store) ?? store, tracing),
      },
    }),
    ...(snowflake && {
      snowflake: { ...snowflake, wrapRegistry: (registry: WorkerRegistry) => tracedRegistry(registry, tracing) },
    }),
  };
}

function tracedStore(store: SegmentStore, tracing: Tracing): SegmentStore {
  const allocate: SegmentStore['allocate'] = (tag, size) =>
    tracing.span(
      'segment allocate',
      { 'leaf.tag': tag, 'leaf.database': store.description },
      () => store.allocate(tag, size),
      ({ from, to }) => ({ 'leaf.segment.size': Number(to - from) + 1 }),
    );
  const allocateAll: SegmentStore['allocateAll'] = (requests) =>
    tracing.span(
      'segment allocate',
      { 'leaf.tag': requests.map(({ tag }) => tag).join(','), 'leaf.database': store.description },
      () => store.allocateAll(requests),
    );
  return withMethods(store, { allocate, allocateAll });
}

function tracedRegistry(registry: WorkerRegistry, tracing: Tracing): WorkerRegistry {
  const where = { 'leaf.registry': registry.description };
  const worker = ({ workerId }: WorkerClaim): { 'leaf.worker_id': number } => ({ 'leaf.worker_id': workerId });
  const acquire: WorkerRegistry['acquire'] = async (holder, ...rest) => {
    const claim = await tracing.span(
      'worker acquire',
      { ...where, 'leaf.instance': formatInstance(holder.instance) },
      () => registry.acquire(holder, ...rest),
      worker,
    );
    const extend: WorkerClaim['extend'] = (...args) =>
      tracing.span('worker report', { ...where, ...worker(claim) }, () => claim.extend(...args));
    return withMethods(claim, { extend });
  };
  return withMethods(registry, { acquire });
}

/** `target`, with other methods in place of some of its own. */
function withMethods<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get: (_, name) => (Object.hasOwn(methods, name) ? Reflect.get(methods, name) : Reflect.get(target, name, target)),
  });
}
