import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Clock } from '@leaf-ids/core';
import type { OverloadCounts } from './overload-counts';

/** Connections beyond the limit, for probes and operators: an ID request on one of them is refused. */
const RESERVE = 32;
/** One of these is closed when it is idle for so long. */
const RESERVE_IDLE_MS = 2000;
/** Once the port is closed: for requests that were in transit. */
const LINGER_MS = 100;
/** Connections that are looked at for an idle one. */
const MAX_LOOKS = 64;

/** As Node.js marks it: with the response in progress. */
export interface HttpSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
}

/**
 * The connections of one server: how many there may be, and how they end. At the limit, a new connection takes the place
 * of an idle one: of the one that was idle since it was last looked at, the oldest first.
 */
export class Connections {
  /** With the bytes that had come when it was last looked at; the one to look at next comes first. */
  private readonly open = new Map<HttpSocket, number>();
  private readonly surplus = new Set<Socket>();
  private ending = false;
  private emptied: AbortController | undefined;

  /**
   * @param dealt whether another process accepts connections and deals them out to several like this one
   * @param isBusy whether a response is in progress on a connection
   */
  constructor(
    private readonly limit: number,
    private readonly dealt: boolean,
    private readonly clock: Clock,
    private readonly counts: OverloadCounts,
    private readonly isBusy = (socket: HttpSocket): boolean => (socket._httpMessage ?? null) !== null,
  ) {}

  /**
   * Counts the connections of `server` from now on.
   *
   * @param event of `server`: there is a connection
   */
  watch(server: Server, event = 'connection'): void {
    // A connection that a process does not accept would be dealt out again and again: it is accepted and closed.
    if (!this.dealt) server.maxConnections = this.limit + RESERVE;
    server.on('drop', () => {
      this.counts.add('connections');
    });
    server.on(event, (socket: Socket) => {
      this.admit(socket);
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

  private admit(socket: Socket): void {
    if (this.open.size >= this.limit) this.evictIdle();
    if (this.open.size >= this.limit + RESERVE) {
      this.counts.add('connections');
      socket.destroy();
      return;
    }
    this.open.set(socket, 0);
    if (this.open.size > this.limit) {
      this.surplus.add(socket);
      socket.setTimeout(RESERVE_IDLE_MS);
    }
    socket.once('close', () => {
      this.forget(socket);
      if (this.open.size === 0) this.emptied?.abort();
    });
  }

  /** Closes a connection without a response in progress, if there is one among the first {@link MAX_LOOKS}. */
  private evictIdle(): void {
    let idle: Socket | undefined;
    let looks = Math.min(MAX_LOOKS, this.open.size);
    for (const [socket, bytesBefore] of this.open) {
      if (looks-- === 0) break;
      const { bytesRead } = socket;
      const isIdle = !this.isBusy(socket) && !this.surplus.has(socket);
      if (isIdle) idle ??= socket;
      if (isIdle && bytesRead === bytesBefore) {
        idle = socket;
        break;
      }
      this.open.delete(socket);
      this.open.set(socket, bytesRead);
    }
    if (idle === undefined) return;
    this.forget(idle);
    idle.destroy();
  }

  private forget(socket: Socket): void {
    this.open.delete(socket);
    this.surplus.delete(socket);
  }

  private async sleepWhileOpen(ms: number): Promise<void> {
    if (this.open.size === 0) return;
    this.emptied = new AbortController();
    await this.clock.sleep(ms, this.emptied.signal);
  }
}
