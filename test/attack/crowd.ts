import { Agent } from 'node:http';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { call, type Call } from '../support/http/http';
import { HttpReader, type ReplyReader, RespReader } from './reply-readers';

export interface Target {
  readonly port: number;
  readonly respPort: number;
  /** Of the callers that are not hostile; undefined if the server needs none. */
  readonly token: string | undefined;
}

/** All connections of an attacker during one window, and the statuses that came back. */
export class Crowd {
  /** By status; `closed` counts connections that ended without the expected responses. */
  readonly statuses: Record<string, number> = {};
  readonly over: Promise<void>;
  private readonly sockets = new Set<Socket>();
  private readonly agent = new Agent({ keepAlive: true });
  private finish = (): void => undefined;
  private finished = false;

  constructor(readonly target: Target) {
    this.over = new Promise((resolve) => (this.finish = resolve));
  }

  get isOver(): boolean {
    return this.finished;
  }

  /** What ends with the window itself is not counted. */
  count(status: string | number): void {
    if (this.finished) return;
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }

  /** Sends bytes on a new connection and counts the statuses of the responses, which it does not keep. */
  open(bytes: string | Buffer): RawSocket {
    return this.send(connect(this.target.port, '127.0.0.1'), bytes, new HttpReader());
  }

  /** As {@link open}, to the port of the Redis protocol. */
  openResp(bytes: string | Buffer, options: Pick<TcpNetConnectOpts, 'localAddress' | 'allowHalfOpen'> = {}): RawSocket {
    const socket = connect({ port: this.target.respPort, host: '127.0.0.1', ...options });
    return this.send(socket, bytes, new RespReader());
  }

  /** One request with a parsed response, on one of the kept connections. */
  async ask(path: string, given: Call = {}): Promise<number> {
    const { port, token } = this.target;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const options: Call = { agent: this.agent, headers, ...given };
    const { status } = await call(port, path, options).catch(() => ({ status: 0 }));
    this.count(status === 0 ? 'closed' : status);
    return status;
  }

  /** `callers` of them do the same again and again, each without a pause, until the window is over. */
  async loop(callers: number, act: (caller: number) => Promise<unknown>): Promise<void> {
    const caller = async (_: unknown, index: number): Promise<void> => {
      while (!this.finished) await act(index);
    };
    await Promise.all(Array.from({ length: callers }, caller));
  }

  end(): void {
    this.finished = true;
    this.finish();
    this.agent.destroy();
    for (const socket of this.sockets) socket.destroy();
  }

  private send(socket: Socket, bytes: string | Buffer, reader: ReplyReader): RawSocket {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    return new RawSocket(socket, bytes, { reader, count: (status) => this.count(status) });
  }
}

interface Counting {
  readonly reader: ReplyReader;
  readonly count: (status: string) => void;
}

/** One connection that need not follow its protocol. */
export class RawSocket {
  readonly closed: Promise<void>;
  private responses = 0;
  private watcher = (): void => undefined;

  constructor(
    private readonly socket: Socket,
    bytes: string | Buffer,
    private readonly counting: Counting,
  ) {
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('data', (part) => this.read(part));
    // A server that refuses the bytes may reset the connection.
    socket.on('error', () => undefined);
    socket.write(bytes);
  }

  /** Resolves when so many responses have begun, or the connection has ended before. */
  async responded(responses: number): Promise<void> {
    const reached = new Promise<boolean>((resolve) => {
      this.watcher = (): void => {
        if (this.responses >= responses) resolve(true);
      };
      this.watcher();
    });
    if (!(await Promise.race([reached, this.closed.then(() => false)]))) this.counting.count('closed');
  }

  write(bytes: string): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  /** Sends the same bytes again and again, as fast as the server reads them, until the connection ends. */
  async flood(bytes: string): Promise<void> {
    while (this.socket.writable) {
      const sent = new Promise<void>((resolve) => this.socket.write(bytes, () => resolve()));
      await Promise.race([sent, this.closed]);
    }
  }

  end(): void {
    this.socket.destroy();
  }

  /** The system of this client stops taking what the server sends. */
  pause(): void {
    this.socket.pause();
  }

  private read(part: Buffer): void {
    const { reader, count } = this.counting;
    for (const status of reader.read(part)) {
      count(status);
      this.responses++;
    }
    this.watcher();
  }
}
