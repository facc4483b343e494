import { ClientConnection } from './client-connection';

/** A connection that was refused or lost is tried again after this time, as `Retry-After` asks. */
const RECONNECT_MS = 1000;

/** Kept connections; those that are lost come back. */
export class ClientPool {
  private readonly idle: ClientConnection[] = [];
  private readonly all = new Set<ClientConnection>();
  private wanted = 0;

  constructor(
    private readonly port: number,
    private readonly request: Buffer,
  ) {}

  /** Opens or ends connections at once; the newest end first, which are those that the overload brought. */
  resize(wanted: number): void {
    this.wanted = wanted;
    for (const connection of [...this.all].reverse()) {
      if (this.all.size <= wanted) return;
      this.all.delete(connection);
      connection.end();
    }
    while (this.all.size < wanted) this.open();
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

  private open(): void {
    const connection: ClientConnection = new ClientConnection(
      this.port,
      this.request,
      (opened) => this.idle.push(opened),
      () => {
        if (!this.all.delete(connection)) return;
        setTimeout(() => {
          if (this.all.size < this.wanted) this.open();
        }, RECONNECT_MS);
      },
    );
    this.all.add(connection);
  }
}
