import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastPath, IdCall } from '../fast-path';
import { mapAsSpring, prefersJson } from '../java-requests';
import type { IdleTimer } from '../../connections/idle-timer';
import { PacedConnection } from '../../connections/paced-connection';
import { ownCopy, type ReadRequest, RequestReader } from './request-reader';
import { keepAliveOf, type ResponseHeads } from './response-heads';

/** Characters of responses that are written in one turn of the event loop. */
const WRITE_SIZE = 65_536;
const NOTHING = Buffer.alloc(0);

export interface IdConnectionParts {
  readonly fastPath: FastPath;
  readonly heads: ResponseHeads;
  readonly timer: IdleTimer;
  /** Connections with a request that is not answered yet. */
  readonly answering: Set<Socket>;
  /** Adjusts the bytes held back on a connection; ends it beyond the limit. */
  readonly countBehind: (socket: Socket, bytes: number) => void;
  /** Whether URLs are read as Spring does. */
  readonly javaPaths: boolean;
  /** Whether requests are logged: {@link handle} answers them all. */
  readonly isLogged: boolean;
  /** Whether responses end their connections: it is left to Node.js then. */
  readonly isEnding: (socket: Socket) => boolean;
  /** Time for the first request, in milliseconds. */
  readonly firstRequestMs: number;
  /** Time without a request after which a connection is closed, in milliseconds. */
  readonly keepAliveMs: number;
  /** Time without any transfer after which a client that does not read is given up, in milliseconds. */
  readonly stallMs: number;
  /** Hands the connection to Node.js. `isAnsweredAhead`: responses precede its next bytes. */
  readonly leaveToNode: (socket: Socket, isAnsweredAhead: boolean) => void;
  /** A request that is not answered here. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** The client has sent no request in time. */
  readonly onSilence: (socket: Socket) => void;
}

/** What the last request was: clients repeat it to the letter. */
interface Known {
  readonly text: string;
  readonly call: IdCall;
  readonly request: ReadRequest;
  readonly isJson: boolean;
  /** What its responses begin with. */
  readonly prefix: string;
}

/**
 * Answers the requests for IDs of one connection, as long as {@link RequestReader} reads them: all of a chunk with one
 * write, in their order. One whose IDs are not in memory is answered by the framework, unless it waits for a strict tag or
 * for the next millisecond. Anything else is given back to the socket unread, and Node.js takes the connection over for
 * good.
 */
export class IdConnection extends PacedConnection {
  private readonly reader = new RequestReader();
  private known: Known | undefined;
  /** What is not answered yet. */
  private bytes: Buffer = NOTHING;
  /** Whether they came before the response to the request ahead of them was sent. */
  private isAnsweredAhead = false;
  /** Those of them that are counted. */
  private counted = 0;
  private isUsed = false;

  constructor(
    socket: Socket,
    private readonly parts: IdConnectionParts,
  ) {
    super(socket, parts.timer);
    socket.on('timeout', this.onIdle);
  }

  get idleLimitMs(): number {
    if (this.isPaused()) return this.parts.stallMs;
    return this.isUsed ? this.parts.keepAliveMs : this.parts.firstRequestMs;
  }

  readonly onIdle = (): void => {
    if (this.isUsed) this.socket.destroy();
    else this.parts.onSilence(this.socket);
  };

  protected onInputEnd(): void {
    this.socket.end();
  }

  protected receive(chunk: Buffer): void {
    if (this.isPaused()) {
      this.keep(Buffer.concat([this.bytes, chunk]));
      return;
    }
    this.bytes = chunk;
    this.isAnsweredAhead = false;
  }

  protected work(): void {
    const { parts, bytes } = this;
    const { fastPath, heads } = parts;
    this.bytes = NOTHING;
    if (this.counted > 0) this.count(0);
    if (!this.socket.writable) return;
    const text = bytes.toString('latin1');
    const isOver = parts.isEnding(this.socket);
    let out = '';
    for (let at = 0; at < text.length;) {
      const begunAt = fastPath.counts.begin();
      const known = isOver ? undefined : this.read(text, at);
      if (known === undefined) {
        this.write(out);
        this.leave(bytes.subarray(at), at > 0 || this.isAnsweredAhead);
        return;
      }
      const { call, isJson, prefix } = known;
      at += known.text.length;
      const body = parts.isLogged
        ? undefined
        : fastPath.tryTake(call, known.request.head.headers.authorization, isJson);
      if (body === undefined) {
        this.write(out);
        this.keep(bytes.subarray(at));
        this.answerLater(known, begunAt);
        return;
      }
      out += prefix + heads.suffix(body.length, begunAt) + body;
      fastPath.counts.end(call.route.count, begunAt);
      if (out.length >= WRITE_SIZE && at < text.length) {
        // The other connections have their turn.
        this.keep(bytes.subarray(at));
        this.giveTurn();
        break;
      }
    }
    this.write(out);
    this.readOn();
  }

  private read(text: string, at: number): Known | undefined {
    const { known, parts } = this;
    if (known !== undefined && text.startsWith(known.text, at)) return known;
    const found = this.reader.read(text, at);
    if (found === undefined) return undefined;
    const own = ownCopy(text.slice(at, found.end));
    const request = this.reader.read(own, 0) as ReadRequest;
    const mapped = { url: request.url, rawHeaders: [...request.head.rawHeaders] };
    if (parts.javaPaths) mapAsSpring(mapped);
    const call = parts.fastPath.callOf(mapped.url);
    if (call === undefined) return undefined;
    const isJson = call.route.maxSize === undefined && prefersJson(mapped.rawHeaders);
    return (this.known = { text: own, call, request, isJson, prefix: parts.heads.prefix(call, isJson) });
  }

  /** Keeps what is behind a request that waits, and reads no more. */
  private keep(rest: Buffer): void {
    if (rest.length === 0) return;
    // A copy: a part of a buffer keeps all of it in memory.
    this.bytes = Buffer.from(rest);
    this.isAnsweredAhead = true;
    this.socket.pause();
    this.count(rest.length);
  }

  private count(bytes: number): void {
    this.parts.countBehind(this.socket, bytes - this.counted);
    this.counted = bytes;
  }

  private giveTurn(): void {
    const { socket, parts } = this;
    this.stop('turn');
    parts.answering.add(socket);
    setImmediate(() => {
      parts.answering.delete(socket);
      this.resume('turn');
    });
  }

  private write(out: string): void {
    if (out === '') return;
    this.isUsed = true;
    this.send(out);
  }

  /** Answers a request whose IDs are not in memory; meanwhile the connection answers no other. */
  private answerLater({ call, request, isJson, prefix }: Known, begunAt: number): void {
    const { fastPath, heads, isEnding, isLogged, answering } = this.parts;
    const { socket } = this;
    if (socket.destroyed) return;
    this.isUsed = true;
    this.hold('answer');
    const later = isLogged ? undefined : fastPath.take(call, request.head.headers.authorization, isJson);
    if (later === undefined) {
      this.handOver(request, this.parts.handle);
      return;
    }
    answering.add(socket);
    void later
      .finally(() => answering.delete(socket))
      .then(
        (body) => {
          if (!socket.writable) return;
          if (isEnding(socket)) {
            this.handOver(request, (_request, response) => fastPath.write(call, isJson, body, response));
          } else {
            this.write(prefix + heads.suffix(body.length, begunAt) + body);
            this.resume('answer');
          }
          fastPath.counts.end(call.route.count, begunAt);
        },
        (refusal: unknown) => {
          if (socket.destroyed) return;
          this.handOver(request, (message, response) => {
            fastPath.refuse(message, refusal);
            this.parts.handle(message, response);
          });
        },
      );
  }

  /** Hands one request to `handle`, and reads on after its response. */
  private handOver({ url, head }: ReadRequest, handle: IdConnectionParts['handle']): void {
    const { socket, parts } = this;
    const request = new IncomingMessage(socket);
    Object.assign(request, { method: 'GET', url, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 });
    request.rawHeaders = [...head.rawHeaders];
    request.headers = { ...head.headers };
    request.complete = true;
    request.push(null);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = !parts.isEnding(socket);
    if (response.shouldKeepAlive) response.setHeader('keep-alive', keepAliveOf(parts.keepAliveMs));
    response.assignSocket(socket);
    const onDrain = (): void => {
      if (response.writableNeedDrain) response.emit('drain');
    };
    socket.on('drain', onDrain);
    response.once('finish', () => {
      socket.off('drain', onDrain);
      response.detachSocket(socket);
      request.resume();
      process.nextTick(() => response.emit('close'));
      const isLast = !response.shouldKeepAlive || response.getHeader('connection') === 'close';
      if (isLast) socket.destroySoon();
      else if (socket.writableNeedDrain) this.stop('room');
      this.resume('answer');
    });
    handle(request, response);
  }

  /** Node.js reads what this connection has not. */
  private leave(rest: Buffer, isAnsweredAhead: boolean): void {
    const { socket } = this;
    socket.pause();
    this.detach();
    socket.off('timeout', this.onIdle);
    if (rest.length > 0) socket.unshift(rest);
    this.parts.leaveToNode(socket, isAnsweredAhead);
    socket.resume();
  }
}
