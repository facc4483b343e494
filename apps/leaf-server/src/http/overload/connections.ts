import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@leaf-ids/core';
import type { OverloadCounts } from './overload-counts';

/** So many connections beyond the limit are let in, for probes and operators: no ID is had on them. */
const RESERVE = 32;
/** One of these that stays silent gives its place back. */
const RESERVE_IDLE_MS = 2000;
/** Once nobody can connect any more: for requests that were on their way when HTTP closed. */
const LINGER_MS = 100;

/** The connections of one server: how many there may be, and how they end. */
export class Connections {
  private readonly open = new Set<Socket>();
  private readonly surplus = new Set<Socket>();
  private ending = false;
  private emptied: AbortController | undefined;

  /** @param dealt whether another process accepts connections and deals them out to several like this one */
  constructor(
    private readonly limit: number,
    private readonly dealt: boolean,
    private readonly clock: Clock,
    private readonly counts: OverloadCounts,
  ) {}

  /** Counts those of `server` from now on. */
  watch(server: Server): void {
    // A connection that is not taken would be dealt out again and again while all are full: it is taken, and ended.
    if (!this.dealt) server.maxConnections = this.limit + RESERVE;
    server.on('drop', () => {
      this.counts.add('connections');
    });
    server.on('connection', (socket: Socket) => {
      this.admit(socket);
    });
  }

  /** Whether there are connections beyond the limit at all. */
  get crowded(): boolean {
    return this.surplus.size > 0;
  }

  isSurplus(socket: Socket): boolean {
    return this.surplus.has(socket);
  }

  /** Whether every connection is to end with the answer under way. */
  get closing(): boolean {
    return this.ending;
  }

  /**
   * Ends the connections once no new ones can come: those in `busy` when their answer is out, the others after a moment
   * in which a request that was already sent is still served; all of them at the latest after `limitMs`.
   */
  async end(busy: () => ReadonlySet<Socket>, limitMs: number): Promise<void> {
    if (this.ending) return;
    this.ending = true;
    await this.sleepWhileOpen(LINGER_MS);
    // However late the timer was: what has arrived by now is read first.
    await new Promise((resolve) => setImmediate(resolve));
    const answering = busy();
    for (const socket of this.open) {
      // What is written goes out first, other than with destroy().
      if (!answering.has(socket)) socket.destroySoon();
    }
    await this.sleepWhileOpen(limitMs);
    for (const socket of this.open) socket.destroy();
  }

  private admit(socket: Socket): void {
    if (this.open.size >= this.limit + RESERVE) {
      this.counts.add('connections');
      socket.destroy();
      return;
    }
    this.open.add(socket);
    if (this.open.size > this.limit) {
      this.surplus.add(socket);
      socket.setTimeout(RESERVE_IDLE_MS);
    }
    socket.once('close', () => {
      this.open.delete(socket);
      this.surplus.delete(socket);
      if (this.open.size === 0) this.emptied?.abort();
    });
  }

  private async sleepWhileOpen(ms: number): Promise<void> {
    if (this.open.size === 0) return;
    this.emptied = new AbortController();
    await this.clock.sleep(ms, this.emptied.signal);
  }
}
