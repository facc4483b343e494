import type { IncomingMessage, ServerResponse } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import { Logger } from '@nestjs/common';
import type { Clock, RandomSource } from '@leaf-ids/core';
import { plainAddress } from '../tokens/client-network';
import type { AccessLogConfig } from '../config/leaf-config';
import { requestIdOf } from './responses/request-id';

const RANDOM_BOUND = 1_000_000;

interface AccessLinesParts {
  readonly config: AccessLogConfig;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** Selects the requests that have a line in the access log, and writes the lines. */
export class AccessLines {
  private readonly logger = new Logger('Access');
  private readonly ratio: number;
  private readonly slowMs: number;

  constructor(private readonly parts: AccessLinesParts) {
    const { mode, slowMs, ratio } = parts.config;
    this.slowMs = mode === 'slow' ? slowMs : 0;
    this.ratio = mode === 'sampled' ? ratio : 1;
  }

  /** Whether the next request is in the sample. */
  draw(): boolean {
    return this.ratio >= 1 || this.parts.random(RANDOM_BOUND) < this.ratio * RANDOM_BOUND;
  }

  /**
   * Writes the line of a request of the sample, unless it was too fast.
   *
   * @param fields called with the rounded time if the line is written
   */
  write(ms: number, fields: (ms: number) => Record<string, unknown>): void {
    if (ms < this.slowMs) return;
    this.logger.log({ message: 'Request', ...fields(Math.round(ms * 1000) / 1000) });
  }
}

interface AccessLogParts extends AccessLinesParts {
  readonly trustedProxies: readonly string[];
  /** The route of a path, such as `/api/tags/:tag`. */
  readonly routeOf: (path: string) => string | undefined;
}

/** Logs HTTP requests when their responses are sent or their connections are closed. */
export class AccessLog {
  private readonly lines: AccessLines;
  private readonly isTrusted: (address: string, hop: number) => boolean;

  constructor(private readonly parts: AccessLogParts) {
    this.lines = new AccessLines(parts);
    this.isTrusted = proxyAddress.compile([...parts.trustedProxies]);
  }

  /** Call it before the response is written. */
  follow(request: IncomingMessage, response: ServerResponse): void {
    if (!this.lines.draw()) return;
    const { clock } = this.parts;
    const begunAt = clock.monotonic();
    const { socket } = request;
    const { bytesWritten } = socket;
    const address = plainAddress(proxyAddress(request, this.isTrusted));
    response.once('close', () => {
      this.lines.write(clock.monotonic() - begunAt, (ms) => ({
        method: request.method,
        route: this.routeOf(request),
        ...(response.headersSent && { status: response.statusCode }),
        ms,
        bytes: socket.bytesWritten - bytesWritten,
        address,
        requestId: requestIdOf(request),
        ...(!response.writableFinished && { aborted: true }),
      }));
    });
  }

  private routeOf({ url = '' }: IncomingMessage): string {
    const [path = ''] = url.split('?', 1);
    return this.parts.routeOf(path) ?? 'unknown';
  }
}
