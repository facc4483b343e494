import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SystemClock } from '@leaf-ids/core';
import { EmbeddedIdService, Leaf, type LeafStatus } from '@leaf-ids/id';
import { FIRST_TAG } from '@leaf-ids/persistence';
import { AdminGuard } from './admin/admin.guard';
import { AppModule } from './app.module';
import type { LeafConfig } from './config/leaf-config';
import { Drain } from './lifecycle/drain';
import { Readiness } from './lifecycle/readiness';
import { checkTokensFirst, createAdapter } from './http/server/adapter';
import { BACKLOG, listen, placeOf, urlOf } from './http/server/listen';
import { ManagementPort } from './http/server/management-port';
import { addressesOf } from './http/server/ports';
import { FastPath } from './http/fast-path';
import { LeafLogger } from './config/logging';
import { OverloadCounts } from './http/overload/refusals';
import { NoRequestCounts, RequestCounts } from './http/request-counts';
import { RespListener } from './resp/resp-listener';
import { ApiDocument } from './openapi/api-document';
import { SharedState } from './processes/shared-state';
import { SingleProcess, type ProcessBus } from './processes/process-bus';
import { ClientAccess } from './clients/client-access';
import { traced, Tracing } from './tracing/tracing';
import { WorkerGuard } from './worker-windows/worker.guard';

export interface LeafServer {
  /** The port on which it listens. */
  readonly port: number;
  /** The management port; undefined if it is disabled. */
  readonly managementPort: number | undefined;
  /** The port for clients of the Redis protocol; undefined if it is disabled. */
  readonly respPort: number | undefined;
  /** The port as a URL. */
  readonly url: string;
  /** URL and address for the log. */
  readonly place: string;
  /** Stops in order: drain, HTTP, return of unused IDs, connections. Later calls return the promise of the first. */
  close(options?: { readonly drain: boolean }): Promise<void>;
}

export interface ServerOptions {
  /** False leaves single IDs to the ordinary routes: for tests and measurements. */
  readonly fastPath?: boolean;
  /** False counts no requests: for measurements of the counting. */
  readonly countRequests?: boolean;
  /** The processes that are one server with this one; left out: there are none. */
  readonly bus?: ProcessBus;
  /** Aborts a start under way: it rejects with the reason of the signal, and everything that was opened is closed. */
  readonly signal?: AbortSignal;
  /** Called when the start is complete except for listening. */
  readonly beforeListening?: (parts: { readonly readiness: Readiness; readonly state: SharedState }) => Promise<void>;
}

/**
 * Starts a server and resolves when it listens.
 *
 * @throws LeafError a fault of the start; everything that was opened is closed again
 */
export async function startServer(
  config: LeafConfig,
  { fastPath = true, countRequests = true, bus = new SingleProcess(), beforeListening, signal }: ServerOptions = {},
): Promise<LeafServer> {
  const clock = new SystemClock();
  const logger = new LeafLogger(config.log, config.process);
  const requests = countRequests ? new RequestCounts(clock) : new NoRequestCounts(clock);
  const overload = new OverloadCounts();
  const drain = new Drain(clock, config.drainMs);
  // It answers ahead of what traces requests.
  const hasFastPath = fastPath && config.tracing === undefined;
  const route = hasFastPath
    ? new FastPath(requests, drain, config.jsonIds, clock, overload, config.http.maxInFlight)
    : undefined;
  const management = new ManagementPort(config.management);
  const { host, http: limits, accessLog } = config;
  const parts = { limits, accessLog, clock, fastPath: route, counts: requests, overload, drain, management };
  const adapter = createAdapter(parts);
  const tracing = config.tracing && (await Tracing.start(config.tracing, clock));
  tracing?.traceRequests(adapter.getInstance());
  const ids = tracing === undefined ? config.ids : traced(config.ids, tracing);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot({ ...config, ids }, { logger, clock, drain, requests, overload, bus, ...(signal && { signal }) }),
    adapter,
    { logger, abortOnError: false, bodyParser: false },
  ).catch(async (error: unknown) => {
    await tracing?.close();
    throw error;
  });
  app.get(ApiDocument).describe(app);
  checkTokensFirst(adapter.getInstance(), { command: app.get(AdminGuard), window: app.get(WorkerGuard) });
  logSettings(config);
  let closed: Promise<void> | undefined;
  let operators: AddressInfo | undefined;
  let respPort: number | undefined;
  const close: LeafServer['close'] = (options) => {
    if (options?.drain === false) drain.skip();
    closed ??= app.close().finally(() => tracing?.close());
    return closed;
  };
  try {
    await app.init();
    await beforeListening?.({ readiness: app.get(Readiness), state: app.get(SharedState) });
    signal?.throwIfAborted();
    const addresses = addressesOf(config);
    operators = addresses.management && (await listen(addresses.management, () => management.listen()));
    respPort = addresses.resp && (await listen(addresses.resp, () => app.get(RespListener).listen()));
    await listen(addresses.public, () => app.listen({ port: config.port, host, backlog: BACKLOG }));
  } catch (error) {
    await close({ drain: false });
    throw error;
  }
  route?.serve(app.get(EmbeddedIdService), app.get(ClientAccess));
  const { port, address } = app.getHttpServer().address() as AddressInfo;
  const url = urlOf(host, port);
  const place = placeOf(host, port, address);
  new Logger('Server').log(greeting(app.get(Leaf).status(), config, { url, place, operators, respPort }));
  return { port, managementPort: operators?.port, respPort, url, place, close };
}

function logSettings({ files, warnings }: LeafConfig): void {
  const logger = new Logger('Configuration');
  if (files.length > 0) logger.log(`Settings were read from the environment and from ${files.join(', ')}.`);
  for (const warning of warnings) logger.warn(warning);
}

/** The first lines of the log: address, storage, and a request to try. */
function greeting(
  { database, registry, snowflake }: LeafStatus,
  { management, process, processes }: LeafConfig,
  {
    place,
    url,
    operators,
    respPort,
  }: Pick<LeafServer, 'url' | 'place' | 'respPort'> & { readonly operators: AddressInfo | undefined },
): string {
  const parts = [
    process === undefined ? `Listening on ${place}` : `Process ${process} of ${processes} serves ${place}`,
  ];
  if (management !== undefined && operators !== undefined) {
    parts.push(`management port ${placeOf(management.host, operators.port, operators.address)}`);
  }
  if (respPort !== undefined) parts.push(`Redis protocol on port ${respPort}`);
  if (database !== undefined) parts.push(`database ${database.description}`);
  if (registry !== undefined) {
    parts.push(`registry ${registry.description}, worker ID ${snowflake?.workerId ?? 'not held yet'}`);
  }
  const path = database === undefined ? '/api/snowflake/get/test' : `/api/segment/get/${FIRST_TAG}`;
  return `${parts.join(' · ')} · try: curl ${url}${path}`;
}
