import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The responses in progress, at most one on each connection. */
export class PendingResponses {
  private readonly pending = new Set<ServerResponse>();

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
