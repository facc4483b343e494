import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../../tokens/client-network';
import type { OverloadCounts } from './refusals';

/** Requests that wait behind another one of their connection: beyond these limits the connection ends. */
const MAX_WAITING_ON_CONNECTION = 256;
/** Characters of their paths and headers: large headers cost much more to parse and to collect than to send. */
const MAX_TEXT_ON_CONNECTION = 128 * 2 ** 10;
/** Memory of all waiting requests, in bytes; a client may use half of what the others leave. */
const MAX_BYTES = 16 * 2 ** 20;
/** Each connection may have these waiting, whatever the other connections of its client have. */
const FREE_BYTES = 16 * 2 ** 10;
/** A request without its text, and a header without its text, in memory. */
const REQUEST_BYTES = 4096;
const HEADER_BYTES = 48;

/** As Node.js marks it: with the parser, which skips the rest of a packet when this function returns 2. */
interface ParsedSocket extends Socket {
  readonly parser?: { onIncoming: ((request: IncomingMessage, keepAlive: boolean) => number) | null };
}
const SKIP_PACKET = 2;

/** Waiting requests of one client network. */
interface Client {
  bytes: number;
  connections: number;
}

interface Waiting {
  readonly client: Client;
  requests: number;
  text: number;
  bytes: number;
}

type Size = Pick<Waiting, 'text' | 'bytes'>;

/**
 * Pipelined requests: Node.js reports every request of a packet at once. Each one waits here until the response before
 * it is sent, then begins in a turn of the event loop of its own, so that other connections have their turn in between.
 */
export class Pipelines {
  private readonly waitingOn = new Map<Socket, Waiting>();
  /** Waiting requests of each client network. */
  private readonly clients = new Map<string, Client>();
  private bytes = 0;

  constructor(private readonly counts: OverloadCounts) {}

  /**
   * Requests behind the one that ends the connection are not even parsed: that would cost as much as they.
   *
   * @param socket with the parser of Node.js
   */
  stopParsing(socket: ParsedSocket): void {
    const { parser } = socket;
    const onIncoming = parser?.onIncoming?.bind(parser);
    if (parser === undefined || onIncoming === undefined) return;
    parser.onIncoming = (request, keepAlive): number => {
      const result = onIncoming(request, keepAlive);
      return socket.destroyed ? SKIP_PACKET : result;
    };
  }

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
    const waiting = this.waitingOn.get(socket) ?? this.watch(socket);
    const size = sizeOf(response.req);
    if (!this.hasRoom(waiting, size)) {
      this.end(socket, waiting);
      return;
    }
    this.change(waiting, 1, size);
    response.once('socket', () => {
      this.change(waiting, -1, { text: -size.text, bytes: -size.bytes });
      setImmediate(() => {
        if (!response.destroyed) begin();
      });
    });
  }

  /**
   * Counts bytes that wait behind a request without being parsed.
   *
   * @param bytes negative: they wait no longer
   */
  countBehind(socket: Socket, bytes: number): void {
    const waiting = this.waitingOn.get(socket) ?? this.watch(socket);
    const size = { text: 0, bytes };
    if (bytes > 0 && !this.hasRoom(waiting, size)) this.end(socket, waiting);
    else if (!socket.destroyed) this.change(waiting, 0, size);
  }

  private end(socket: Socket, waiting: Waiting): void {
    this.counts.add('pipelined');
    // At once: `close` comes after the packets of this turn, and the other connections of the client would be ended too.
    this.forget(waiting);
    socket.destroy();
  }

  private hasRoom(waiting: Waiting, { text, bytes }: Size): boolean {
    if (waiting.requests === MAX_WAITING_ON_CONNECTION || waiting.text + text > MAX_TEXT_ON_CONNECTION) return false;
    const others = this.bytes - waiting.client.bytes;
    return waiting.bytes + bytes <= FREE_BYTES || waiting.client.bytes + bytes <= (MAX_BYTES - others) / 2;
  }

  private change(waiting: Waiting, requests: number, { text, bytes }: Size): void {
    waiting.requests += requests;
    waiting.text += text;
    waiting.bytes += bytes;
    waiting.client.bytes += bytes;
    this.bytes += bytes;
  }

  /** All requests that wait on the connection. */
  private forget(waiting: Waiting): void {
    waiting.client.bytes -= waiting.bytes;
    this.bytes -= waiting.bytes;
    Object.assign(waiting, { requests: 0, text: 0, bytes: 0 });
  }

  /**
   * When a connection closes, Node.js creates an error for each request of it that has no response. Their stacks would
   * cost more than to parse these requests, and nobody reads them.
   */
  private watch(socket: Socket): Waiting {
    const network = networkOf(socket.remoteAddress);
    const client = this.clients.get(network) ?? { bytes: 0, connections: 0 };
    const waiting = { client, requests: 0, text: 0, bytes: 0 };
    this.clients.set(network, client);
    client.connections++;
    this.waitingOn.set(socket, waiting);
    let { stackTraceLimit } = Error;
    socket.prependOnceListener('close', () => {
      ({ stackTraceLimit } = Error);
      Error.stackTraceLimit = 0;
    });
    socket.once('close', () => {
      Error.stackTraceLimit = stackTraceLimit;
      this.forget(waiting);
      this.waitingOn.delete(socket);
      if (--client.connections === 0) this.clients.delete(network);
    });
    return waiting;
  }
}

function sizeOf({ url = '', rawHeaders }: IncomingMessage): Size {
  const text = rawHeaders.reduce((sum, { length }) => sum + length, url.length);
  return { text, bytes: REQUEST_BYTES + (rawHeaders.length / 2) * HEADER_BYTES + text };
}
