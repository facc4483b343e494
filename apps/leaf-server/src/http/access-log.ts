import type { IncomingMessage, ServerResponse } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import { Logger } from '@nestjs/common';
import type { Clock, RandomSource } from '@leaf-ids/core';
import type { AccessLogConfig } from '../config/leaf-config';
import { unmapped } from '../tokens/client-network';
import { requestIdOf } from './responses/request-id';

const RANDOM_BOUND = 1_000_000;

export interface AccessLogParts {
  readonly config: AccessLogConfig;
  readonly trustedProxies: readonly string[];
  /** The route of a path, such as `/api/tags/:tag`. */
  readonly routeOf: (path: string) => string | undefined;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** Logs requests when their responses are sent or their connections are closed. */
export class AccessLog {
  private readonly logger = new Logger('Access');
  private readonly ratio: number;
  private readonly slowMs: number;
  private readonly isTrusted: (address: string, hop: number) => boolean;

  constructor(private readonly parts: AccessLogParts) {
    const { mode, slowMs, ratio } = parts.config;
    this.slowMs = mode === 'slow' ? slowMs : 0;
    this.ratio = mode === 'sampled' ? ratio : 1;
    this.isTrusted = proxyAddress.compile([...parts.trustedProxies]);
  }

  /** Call it before the response is written. */
  follow(request: IncomingMessage, response: ServerResponse): void {
    const { clock, random } = this.parts;
    if (this.ratio < 1 && random(RANDOM_BOUND) >= this.ratio * RANDOM_BOUND) return;
    const begunAt = clock.monotonic();
    const { socket } = request;
    const { bytesWritten } = socket;
    const address = unmapped(proxyAddress(request, this.isTrusted));
    response.once('close', () => {
      const ms = clock.monotonic() - begunAt;
      if (ms >= this.slowMs) this.write(request, response, { ms, bytes: socket.bytesWritten - bytesWritten, address });
    });
  }

  private write(
    request: IncomingMessage,
    response: ServerResponse,
    { ms, bytes, address }: { readonly ms: number; readonly bytes: number; readonly address: string },
  ): void {
    const [path = ''] = (request.url ?? '').split('?', 1);
    this.logger.log({
      message: 'Request',
      method: request.method,
      route: this.parts.routeOf(path) ?? 'unknown',
      ...(response.headersSent && { status: response.statusCode }),
      ms: Math.round(ms * 1000) / 1000,
      bytes,
      address,
      requestId: requestIdOf(request),
      ...(!response.writableFinished && { aborted: true }),
    });
  }
}
