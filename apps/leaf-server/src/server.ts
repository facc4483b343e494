import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { IdService, LeafError, messageOf, SegmentStore, SystemClock } from '@leaf/core';
import { FIRST_TAG } from '@leaf/persistence';
import { SnowflakeService } from '@leaf/snowflake';
import { AppModule } from './app.module';
import type { LeafConfig } from './config/leaf-config';
import { Drain } from './health/drain';
import { createAdapter } from './http/adapter';
import { SingleIdRoute } from './http/single-id.route';
import { LeafLogger } from './logging';
import { OverloadCounts } from './metrics/overload-counts';
import { RequestCounts } from './metrics/request-counts';

export interface LeafServer {
  /** The port on which it listens. */
  readonly port: number;
  /** Stops in order: drain, HTTP, IDs given back, connections. Later calls join the first. */
  close(options?: { readonly drain: boolean }): Promise<void>;
}

export interface ServerOptions {
  /** False leaves single IDs to the ordinary routes: for tests and measurements. */
  readonly fastRoute?: boolean;
}

/**
 * Starts a server and resolves when it listens.
 *
 * @throws LeafError a fault of the start; everything that was opened is closed again
 */
export async function startServer(config: LeafConfig, { fastRoute = true }: ServerOptions = {}): Promise<LeafServer> {
  const counts = new RequestCounts();
  const overload = new OverloadCounts();
  const clock = new SystemClock();
  const drain = new Drain(clock, config.drainMs);
  const route = new SingleIdRoute(counts, drain);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(config, counts, overload, drain),
    createAdapter({ limits: config.http, clock, fastRoute: route, counts, overload, drain }),
    { logger: new LeafLogger(config.log), abortOnError: false },
  );
  for (const warning of config.warnings) new Logger('Configuration').warn(warning);
  let closed: Promise<void> | undefined;
  const close: LeafServer['close'] = (options) => {
    if (options?.drain === false) drain.skip();
    closed ??= app.close();
    return closed;
  };
  try {
    await app.init();
    await listen(app, config);
  } catch (error) {
    await close({ drain: false });
    throw error;
  }
  if (fastRoute) route.serve(app.get(IdService));
  const { port } = app.getHttpServer().address() as AddressInfo;
  new Logger('Server').log(greeting(app, config, port));
  return { port, close };
}

async function listen(app: NestFastifyApplication, { host, port }: LeafConfig): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (error) {
    throw new LeafError(
      'LEAF_PORT_UNUSABLE',
      `HTTP cannot listen on ${host}:${port}: ${messageOf(error)}. Stop what uses the port, or choose another one in LEAF_PORT.`,
      { cause: error },
    );
  }
}

/** Where it listens, what it stands on, and something to try. */
function greeting(app: NestFastifyApplication, { host, ids }: LeafConfig, port: number): string {
  const reach = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const url = `http://${reach.includes(':') ? `[${reach}]` : reach}:${port}`;
  const parts = [`Listening on ${url}`];
  if (ids.segment !== undefined) parts.push(`database ${app.get(SegmentStore, { strict: false }).description}`);
  if (ids.snowflake !== undefined) {
    const { lease } = app.get(SnowflakeService, { strict: false }).snapshot();
    parts.push(`registry ${lease.registry}, worker ID ${lease.workerId}`);
  }
  const path = ids.segment === undefined ? '/api/snowflake/get/test' : `/api/segment/get/${FIRST_TAG}`;
  return `${parts.join(' · ')} · try: curl ${url}${path}`;
}
