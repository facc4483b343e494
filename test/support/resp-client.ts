import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from './until';

/** A RESP array of bulk strings. */
export function encode(...words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

/** A connection that sends bytes and collects what comes back. */
export class RespClient {
  received = '';
  closed = false;

  private constructor(readonly socket: Socket) {
    socket.setEncoding('latin1').on('data', (text: string) => (this.received += text));
    socket.on('error', () => undefined).on('close', () => (this.closed = true));
  }

  static async to(port: number): Promise<RespClient> {
    const socket = connect(port, '127.0.0.1');
    const client = new RespClient(socket);
    await once(socket, 'connect');
    return client;
  }

  /** Sends a command and resolves with its reply, which is complete when `lines` line breaks have arrived. */
  async call(words: string, lines = 1): Promise<string> {
    this.received = '';
    this.socket.write(encode(...words.split(' ')));
    await until(`the reply to ${words}`, () => this.received.split('\r\n').length > lines || this.closed);
    return this.received;
  }

  /** Sends bytes, and resolves with what comes back when the server closes the connection. */
  async last(bytes: string): Promise<string> {
    this.socket.write(bytes, 'latin1');
    await until('the end of the connection', () => this.closed);
    return this.received;
  }
}
