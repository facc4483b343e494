import { ClientConnection } from './client-connection';

/** A connection that was refused or lost is tried again after this time, as `Retry-After` asks. */
const RECONNECT_MS = 1000;

/** A fixed number of kept connections; those that are lost come back. */
export class ClientPool {
  private readonly idle: ClientConnection[] = [];
  private readonly all = new Set<ClientConnection>();
  private ended = false;
  /** Connections that ended, before or after they were used. */
  lost = 0;

  constructor(
    private readonly port: number,
    private readonly request: string,
    connections: number,
  ) {
    for (let i = 0; i < connections; i++) this.open();
  }

  /** The connection that has been idle longest. */
  take(): ClientConnection | undefined {
    for (let next = this.idle.shift(); next !== undefined; next = this.idle.shift()) {
      if (next.usable) return next;
    }
    return undefined;
  }

  giveBack(connection: ClientConnection): void {
    if (connection.usable) this.idle.push(connection);
  }

  get size(): number {
    return this.all.size;
  }

  end(): void {
    this.ended = true;
    for (const connection of this.all) connection.end();
  }

  private open(): void {
    if (this.ended) return;
    const connection: ClientConnection = new ClientConnection(
      this.port,
      this.request,
      (opened) => this.idle.push(opened),
      () => {
        this.all.delete(connection);
        if (this.ended) return;
        this.lost++;
        setTimeout(() => this.open(), RECONNECT_MS);
      },
    );
    this.all.add(connection);
  }
}
