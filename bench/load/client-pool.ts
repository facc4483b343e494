import { ClientConnection } from './client-connection';

/** Delay before a refused or lost connection is reopened, as in `Retry-After`. */
const RECONNECT_MS = 1000;

/** A pool of keep-alive connections that reopens lost connections. */
export class ClientPool {
  private readonly idle: ClientConnection[] = [];
  private readonly all = new Set<ClientConnection>();
  private wanted = 0;
  private ended = 0;

  constructor(
    private readonly port: number,
    private readonly request: Buffer,
  ) {}

  /** Opens or closes connections immediately. Closes the newest first, which are those of the overload. */
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

  /** Connections that the server has ended or refused since the last call. */
  countEnded(): number {
    const { ended } = this;
    this.ended = 0;
    return ended;
  }

  private open(): void {
    const connection: ClientConnection = new ClientConnection(
      this.port,
      this.request,
      (opened) => this.idle.push(opened),
      () => {
        if (!this.all.delete(connection)) return;
        this.ended++;
        setTimeout(() => {
          if (this.all.size < this.wanted) this.open();
        }, RECONNECT_MS);
      },
    );
    this.all.add(connection);
  }
}
