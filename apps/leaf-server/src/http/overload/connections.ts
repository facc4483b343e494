import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { Clock } from '@leaf-ids/core';
import { networkOf } from '../../tokens/client-network';
import type { OverloadCounts } from './refusals';

/** Connections beyond the limit, for probes, operators and IDs in memory: other ID requests on them are refused. */
const RESERVE = 32;
/** Connections beyond the reserve, while those in it have had no time to send a request. */
const ARRIVALS = 256;
/** Idle time after which a reserve connection is closed, in milliseconds. */
const RESERVE_IDLE_MS = 2000;
/** Time for requests in transit once the port is closed, in milliseconds. */
const LINGER_MS = 100;
/** Connections that are looked at for one to replace. */
const MAX_LOOKS = 64;
/** Time without a transfer after which a client that sent no request, or does not read, can be replaced, in milliseconds. */
const SILENT_MS = 250;

/** As Node.js marks it: with the response in progress, and with the connection below TLS. */
export interface HttpSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
  readonly _parent?: Socket | null;
}

/** The connections of one client network. */
interface Client {
  open: number;
}

interface Place {
  readonly client: Client;
  /** Monotonic. */
  readonly admittedAt: number;
  /** Whether it is a connection below TLS, whose bytes are those of a handshake. */
  readonly isHandshake: boolean;
  /** Received, and taken by the client, when it was last looked at. */
  bytes: number;
  /** Monotonic: when these bytes were first seen. */
  since: number;
}

/**
 * The connections of one server: how many there may be, and how they end. At the limit, a new connection takes the place
 * of one that does no work: it is idle, its handshake or its request is not complete, its request waits to be refused,
 * or its client does not read. It takes no place of a client with fewer connections than its own. The one that was not
 * used since it was last looked at comes first, the oldest of them before all others. One whose first request may be on
 * its way comes last, and only if its client has more than the newcomer.
 */
export class Connections {
  /** The one to look at next comes first. */
  private readonly open = new Map<Socket, Place>();
  /** Connections of each client network. */
  private readonly clients = new Map<string, Client>();
  /** Oldest first. */
  private readonly surplus = new Set<Socket>();
  private ending = false;
  private emptied: AbortController | undefined;

  /** @param isBusy whether the server works on a request of this connection */
  constructor(
    private readonly limit: number,
    private readonly clock: Clock,
    private readonly counts: OverloadCounts,
    private readonly isBusy: (socket: Socket) => boolean,
  ) {}

  /** Counts the connections of `server` from now on. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.admit(socket, server instanceof TlsServer);
    });
    server.on('secureConnection', (socket: HttpSocket) => {
      // It was counted from the start of its handshake.
      if (socket._parent) this.forget(socket._parent);
      this.admit(socket, false);
    });
  }

  /** Whether there are connections beyond the limit. */
  get crowded(): boolean {
    return this.surplus.size > 0;
  }

  isSurplus(socket: Socket): boolean {
    return this.surplus.has(socket);
  }

  /** Whether every connection ends with its response in progress. */
  get closing(): boolean {
    return this.ending;
  }

  /**
   * Ends the connections once the port is closed: those in `busy` after their response, the others after a moment in
   * which a request in transit is still served; all of them after `limitMs` at the latest.
   */
  async end(busy: () => ReadonlySet<Socket>, limitMs: number): Promise<void> {
    if (this.ending) return;
    this.ending = true;
    await this.sleepWhileOpen(LINGER_MS);
    // Even if the timer was late, requests that have arrived are read first.
    await new Promise((resolve) => setImmediate(resolve));
    const answering = busy();
    for (const socket of this.open.keys()) {
      // Unlike destroy(), this sends what is written first.
      if (!answering.has(socket)) socket.destroySoon();
    }
    await this.sleepWhileOpen(limitMs);
    for (const socket of this.open.keys()) socket.destroy();
  }

  private admit(socket: Socket, isHandshake: boolean): void {
    const network = networkOf(socket.remoteAddress);
    const client = this.clients.get(network) ?? { open: 0 };
    const isSurplus = this.open.size - this.surplus.size >= this.limit && !this.replace(client);
    if (isSurplus && !this.hasRoom()) {
      this.counts.add('connections');
      socket.destroy();
      return;
    }
    const admittedAt = this.clock.monotonic();
    this.open.set(socket, { client, admittedAt, isHandshake, bytes: 0, since: admittedAt });
    this.clients.set(network, client);
    client.open++;
    if (isSurplus) {
      this.surplus.add(socket);
      socket.setTimeout(RESERVE_IDLE_MS);
    }
    socket.once('close', () => {
      this.forget(socket);
      if (client.open === 0 && this.clients.get(network) === client) this.clients.delete(network);
      if (this.open.size === 0) this.emptied?.abort();
    });
  }

  /** Closes a connection for one of `newcomer`, if one can be replaced among the first {@link MAX_LOOKS}. */
  private replace(newcomer: Client): boolean {
    const now = this.clock.monotonic();
    let used: Socket | undefined;
    let arriving: Socket | undefined;
    let unused: Socket | undefined;
    let looks = Math.min(MAX_LOOKS, this.open.size);
    for (const [socket, place] of this.open) {
      if (looks-- === 0 || unused !== undefined) break;
      const { client, bytes: before } = place;
      const isReplaceable = this.isReplaceable(socket, place, now);
      if (isReplaceable && client.open >= newcomer.open && !this.surplus.has(socket)) {
        if (!isArriving(socket, place, now)) {
          if (place.bytes === before) unused = socket;
          else used ??= socket;
        } else if (client !== newcomer && client.open > newcomer.open) arriving ??= socket;
      }
      this.open.delete(socket);
      this.open.set(socket, place);
    }
    const found = unused ?? used ?? arriving;
    if (found === undefined) return false;
    this.forget(found);
    found.destroy();
    return true;
  }

  private hasRoom(): boolean {
    const free = RESERVE - this.surplus.size;
    return free > 0 || this.replaceSurplus(free > -ARRIVALS) || free > -ARRIVALS;
  }

  /** Closes the oldest connection beyond the limit on which no work is done. */
  private replaceSurplus(sparesArrivals: boolean): boolean {
    const now = this.clock.monotonic();
    let arriving: Socket | undefined;
    let found: Socket | undefined;
    let looks = MAX_LOOKS;
    for (const socket of this.surplus) {
      if (looks-- === 0 || found !== undefined) break;
      const place = this.open.get(socket);
      if (place === undefined || !this.isReplaceable(socket, place, now)) continue;
      if (isArriving(socket, place, now)) arriving ??= socket;
      else found = socket;
    }
    if (!sparesArrivals) found ??= arriving;
    if (found === undefined) return false;
    this.counts.add('connections');
    this.forget(found);
    found.destroy();
    return true;
  }

  private isReplaceable(socket: Socket, place: Place, now: number): boolean {
    const bytes = socket.bytesRead + socket.bytesWritten - socket.writableLength;
    if (bytes !== place.bytes) {
      place.bytes = bytes;
      place.since = now;
    }
    return socket.writableLength > 0 ? now - place.since >= SILENT_MS : !this.isBusy(socket);
  }

  private forget(socket: Socket): void {
    const place = this.open.get(socket);
    if (place === undefined) return;
    place.client.open--;
    this.open.delete(socket);
    this.surplus.delete(socket);
  }

  private async sleepWhileOpen(ms: number): Promise<void> {
    if (this.open.size === 0) return;
    this.emptied = new AbortController();
    await this.clock.sleep(ms, this.emptied.signal);
  }
}

/** Whether the first request of a new connection may still be on its way, or wait to be read. */
function isArriving({ bytesRead }: Socket, { admittedAt, isHandshake }: Place, now: number): boolean {
  return (isHandshake || bytesRead === 0) && now - admittedAt < SILENT_MS;
}

/** The responses in progress, at most one on each connection. */
export class PendingResponses {
  private readonly pending = new Set<ServerResponse>();
  /** Connections with a request for IDs that is not answered yet, and has no response object. */
  readonly answering = new Set<Socket>();
  /** Those that wait for a refusal, or for the turn of a costly route. */
  private readonly waiting = new WeakSet<ServerResponse>();

  /** Whether the server works on the request of a connection: it is complete and does not only wait. */
  isBusy(socket: HttpSocket): boolean {
    const { _httpMessage: response } = socket;
    if (this.answering.has(socket)) return true;
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
    const sockets = new Set(this.answering);
    for (const response of this.pending) {
      response.shouldKeepAlive = false;
      sockets.add(response.req.socket);
    }
    return sockets;
  }
}
