import { connect } from 'node:net';
import type { ByteStream } from './streams';

/** A stream that waits for more bytes, such as the rest of a body, ends after this time without any, in milliseconds. */
const QUIET_MS = 3000;

/** What a server sent, and how the connection ended. */
export interface Exchange {
  readonly received: string;
  readonly end: 'closed' | 'reset' | 'waiting';
}

export function exchange(port: number, { bytes, cuts }: ByteStream): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let received = '';
    let end: Exchange['end'] = 'closed';
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    socket.setTimeout(QUIET_MS, () => {
      const { bytesRead } = socket;
      // After a pause of the process, timers run before what has arrived is read.
      setImmediate(() =>
        setImmediate(() => {
          if (socket.destroyed || socket.bytesRead > bytesRead) return;
          end = 'waiting';
          socket.destroy();
        }),
      );
    });
    socket.on('error', () => (end = 'reset'));
    socket.on('close', () => resolve({ received, end }));
    socket.on('connect', () => {
      const ends = [...cuts, bytes.length];
      const send = (piece: number): void => {
        const from = ends[piece - 1] ?? 0;
        socket.write(bytes.subarray(from, ends[piece]));
        if (piece + 1 < ends.length) setImmediate(() => send(piece + 1));
      };
      send(0);
    });
  });
}

/** The responses, without what differs between two equal ones. By status lines: one to HEAD has no body of its length. */
export function comparable(received: string): string {
  if (received === '') return '';
  return received
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .map((response) => {
      const [head = '', body = ''] = response.split('\r\n\r\n');
      const [status = '', ...headers] = head.split('\r\n');
      const same = headers
        .map((line) => line.replace(/^(date|x-request-id|content-length): .*$/i, '$1').toLowerCase())
        .sort();
      const text = body
        .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'uuid')
        .replaceAll(/\d+/g, '0')
        .replaceAll(/(\{"from":"0","to":"0"\},?)+/g, 'ranges');
      return [status, ...same, text].join('\n');
    })
    .join('\n\n');
}
