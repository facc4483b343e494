import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpSocket } from './connections';

/** The responses in progress, at most one on each connection. */
export class PendingResponses {
  private readonly pending = new Set<ServerResponse>();
  /** Those that wait for a refusal, or for the turn of a costly route. */
  private readonly waiting = new WeakSet<ServerResponse>();

  /** Whether the server works on the request of a connection: it is complete and does not only wait. */
  isBusy({ _httpMessage: response }: HttpSocket): boolean {
    return response !== null && response !== undefined && response.req.complete && !this.waiting.has(response);
  }

  /** Marks the connection of a response as replaceable. */
  wait(response: ServerResponse): void {
    this.waiting.add(response);
  }

  begin(response: ServerResponse): void {
    this.waiting.delete(response);
  }

  /** Calls `release` when the response is sent or its connection is closed. */
  follow(response: ServerResponse, release: () => void): void {
    this.pending.add(response);
    response.once('close', () => {
      this.pending.delete(response);
      release();
    });
  }

  /** Closes each connection after its response, and returns these connections. */
  endConnections(): ReadonlySet<Socket> {
    const sockets = new Set<Socket>();
    for (const response of this.pending) {
      response.shouldKeepAlive = false;
      sockets.add(response.req.socket);
    }
    return sockets;
  }
}
