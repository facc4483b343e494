import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The requests that are not answered yet. */
export class PendingResponses {
  private readonly releases = new Map<ServerResponse, () => void>();
  private readonly pipelining = new WeakSet<Socket>();

  /** Calls `release` once, when the answer is out or its connection gone. */
  follow(response: ServerResponse, release: () => void): void {
    this.releases.set(response, release);
    response.once('close', () => {
      this.release(response);
    });
    if (response.socket === null) this.followPipeline(response.req.socket);
  }

  /** Whether an answer on `socket` is not out yet. */
  isUnderWay(socket: Socket): boolean {
    for (const response of this.releases.keys()) {
      if (response.req.socket === socket) return true;
    }
    return false;
  }

  /** None of the answers under way keeps its connection open. */
  endConnections(): ReadonlySet<Socket> {
    const sockets = new Set<Socket>();
    for (const response of this.releases.keys()) {
      response.shouldKeepAlive = false;
      sockets.add(response.req.socket);
    }
    return sockets;
  }

  /** A response whose turn on its connection never came does not hear that the connection is gone. */
  private followPipeline(socket: Socket): void {
    if (this.pipelining.has(socket)) return;
    this.pipelining.add(socket);
    socket.once('close', () => {
      for (const response of [...this.releases.keys()]) {
        if (response.req.socket === socket) this.release(response);
      }
    });
  }

  private release(response: ServerResponse): void {
    const release = this.releases.get(response);
    this.releases.delete(response);
    release?.();
  }
}
