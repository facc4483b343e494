import type { IncomingMessage, ServerResponse } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import { plainAddress } from '../tokens/client-network';
import { AccessLines, type AccessLinesParts } from './access-lines';
import { requestIdOf } from './responses/request-id';

export interface AccessLogParts extends AccessLinesParts {
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
