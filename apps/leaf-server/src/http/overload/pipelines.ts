import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { OverloadCounts } from './overload-counts';

/** Requests that wait behind another one of their connection: beyond these limits the connection ends. */
const MAX_WAITING_ON_CONNECTION = 256;
const MAX_WAITING = 4096;

/**
 * Pipelined requests: Node.js reports every request of a packet at once. Each one waits here until the response before
 * it is sent, then begins in a turn of the event loop of its own, so that other connections have their turn in between.
 */
export class Pipelines {
  private readonly waitingOn = new Map<Socket, number>();
  private waiting = 0;

  constructor(private readonly counts: OverloadCounts) {}

  /** Whether a response on the same connection comes before this one: Node.js assigns the socket in their order. */
  isBehind(response: ServerResponse): boolean {
    return response.socket === null;
  }

  /** Calls `begin` once the response before is sent; never, if the connection ends before that. */
  hold(response: ServerResponse, begin: () => void): void {
    const { socket } = response.req;
    if (socket.destroyed) {
      // Otherwise Node.js destroys it later, with an error whose stack it formats: that costs more than the request.
      response.req.destroy();
      return;
    }
    const waiting = this.waitingOn.get(socket);
    if (waiting === MAX_WAITING_ON_CONNECTION || this.waiting === MAX_WAITING) {
      this.counts.add('pipelined');
      socket.destroy();
      return;
    }
    if (waiting === undefined) this.watch(socket);
    this.change(socket, 1);
    response.once('socket', () => {
      this.change(socket, -1);
      setImmediate(() => {
        if (!response.destroyed) begin();
      });
    });
  }

  private change(socket: Socket, by: number): void {
    this.waitingOn.set(socket, (this.waitingOn.get(socket) ?? 0) + by);
    this.waiting += by;
  }

  /**
   * When a connection closes, Node.js creates an error for each request of it that has no response. Their stacks would
   * cost more than to parse these requests, and nobody reads them.
   */
  private watch(socket: Socket): void {
    let { stackTraceLimit } = Error;
    socket.prependOnceListener('close', () => {
      ({ stackTraceLimit } = Error);
      Error.stackTraceLimit = 0;
    });
    socket.once('close', () => {
      Error.stackTraceLimit = stackTraceLimit;
      this.waiting -= this.waitingOn.get(socket) ?? 0;
      this.waitingOn.delete(socket);
    });
  }
}
