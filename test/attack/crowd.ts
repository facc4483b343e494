import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { call, type Call } from '../support/http/http';

const STATUS_LINE = Buffer.from('HTTP/1.1 ');
const STATUS_LENGTH = STATUS_LINE.length + 3;

/** All connections of an attacker during one window, and the statuses that came back. */
export class Crowd {
  /** By status; `closed` counts connections that ended without the expected responses. */
  readonly statuses: Record<string, number> = {};
  readonly over: Promise<void>;
  private readonly sockets = new Set<Socket>();
  private readonly agent: Agent;
  private finish = (): void => undefined;
  private finished = false;

  constructor(
    readonly port: number,
    maxSockets = Infinity,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets });
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
    const socket = connect(this.port, '127.0.0.1');
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    return new RawSocket(socket, bytes, (status) => this.count(status));
  }

  /** One request with a parsed response, on one of the kept connections. */
  async ask(path: string, options: Call = {}): Promise<number> {
    const { status } = await call(this.port, path, { agent: this.agent, ...options }).catch(() => ({ status: 0 }));
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
}

/** One connection that need not follow HTTP. */
export class RawSocket {
  readonly closed: Promise<void>;
  private responses = 0;
  private rest: Buffer = Buffer.alloc(0);
  private watcher = (): void => undefined;

  constructor(
    private readonly socket: Socket,
    bytes: string | Buffer,
    private readonly count: (status: string) => void,
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
    if (!(await Promise.race([reached, this.closed.then(() => false)]))) this.count('closed');
  }

  write(bytes: string): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  /** The system of this client stops taking what the server sends. */
  pause(): void {
    this.socket.pause();
  }

  private read(part: Buffer): void {
    const bytes = Buffer.concat([this.rest, part]);
    let next = bytes.indexOf(STATUS_LINE);
    let end = 0;
    while (next >= 0 && next + STATUS_LENGTH <= bytes.length) {
      end = next + STATUS_LENGTH;
      const status = bytes.toString('latin1', end - 3, end);
      // The text of a problem may name the protocol, too.
      if (/^\d{3}$/.test(status)) {
        this.count(status);
        this.responses++;
      }
      next = bytes.indexOf(STATUS_LINE, end);
    }
    // A status line may be split between two parts.
    this.rest = bytes.subarray(Math.max(end, bytes.length - STATUS_LENGTH + 1));
    this.watcher();
  }
}
