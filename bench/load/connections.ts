import { connect, type Socket } from 'node:net';

/** Called with the status of a response, or 0 if the connection closed. */
type OnResponse = (status: number) => void;

/** Large enough for a typical response with its headers. */
const READ_BYTES = 16_384;

/** A keep-alive connection that repeats the same GET request with minimal overhead. */
export class Connection {
  private readonly socket: Socket;
  private onResponse: OnResponse | undefined;
  private head = '';
  private status = 0;
  /** Remaining bytes of the body; undefined until all headers are received. */
  private missing: number | undefined;

  constructor(
    port: number,
    private readonly request: Buffer,
    onOpen: (connection: Connection) => void,
  ) {
    // Reads into one buffer, because allocating buffers reduces the rate by 10 %.
    const onread = {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback: (bytes: number, buffer: Uint8Array) => {
        this.receive(buffer as Buffer, bytes);
        return true;
      },
    };
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true, onread }, () => onOpen(this));
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => this.settle(0));
  }

  get usable(): boolean {
    return this.socket.writable && this.socket.readable;
  }

  send(onResponse: OnResponse): void {
    this.onResponse = onResponse;
    this.socket.write(this.request);
  }

  private receive(buffer: Buffer, bytes: number): void {
    if (this.missing !== undefined) {
      this.count(bytes);
      return;
    }
    this.head += buffer.toString('latin1', 0, bytes);
    const end = this.head.indexOf('\r\n\r\n');
    if (end < 0) return;
    this.status = Number(this.head.slice(9, 12));
    this.missing = Number(/content-length: (\d+)/i.exec(this.head)?.[1] ?? 0);
    const body = this.head.length - end - 4;
    this.head = '';
    this.count(body);
  }

  private count(bytes: number): void {
    this.missing = (this.missing ?? 0) - bytes;
    if (this.missing > 0) return;
    this.missing = undefined;
    this.settle(this.status);
  }

  private settle(status: number): void {
    const { onResponse } = this;
    this.onResponse = undefined;
    onResponse?.(status);
  }
}

/** Keep-alive connections; lost ones are not replaced. */
export class ConnectionPool {
  private readonly idle: Connection[] = [];

  constructor(port: number, request: Buffer, size: number) {
    for (let index = 0; index < size; index++) new Connection(port, request, (opened) => this.idle.push(opened));
  }

  /** The connection that has been idle longest. */
  take(): Connection | undefined {
    for (let next = this.idle.shift(); next !== undefined; next = this.idle.shift()) {
      if (next.usable) return next;
    }
    return undefined;
  }

  giveBack(connection: Connection): void {
    if (connection.usable) this.idle.push(connection);
  }
}
