import { connect, type Socket } from 'node:net';

/** Called with the status of a response, or 0 if the connection closed. */
export type Outcome = (status: number) => void;

/** Large enough for a typical response with its headers. */
const READ_BYTES = 16_384;

/** A keep-alive connection that repeats the same GET request with minimal overhead. */
export class ClientConnection {
  private readonly socket: Socket;
  private outcome: Outcome | undefined;
  private head = '';
  private status = 0;
  /** Remaining bytes of the body; undefined until all headers are received. */
  private missing: number | undefined;

  /** @param onEnd called once, when the connection is closed or cannot be opened */
  constructor(
    port: number,
    private readonly request: Buffer,
    onOpen: (connection: ClientConnection) => void,
    onEnd: () => void,
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
    this.socket.on('close', () => {
      onEnd();
      this.settle(0);
    });
  }

  get usable(): boolean {
    return this.socket.writable && this.socket.readable;
  }

  send(outcome: Outcome): void {
    this.outcome = outcome;
    this.socket.write(this.request);
  }

  end(): void {
    this.socket.destroy();
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
    const { outcome } = this;
    this.outcome = undefined;
    outcome?.(status);
  }
}
