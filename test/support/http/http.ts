import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Call {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
  /** Default: a new connection. */
  readonly agent?: Agent;
}

/** Response timeout. */
const LIMIT_MS = 60_000;

/** Sends `path` unchanged; unlike `fetch`, does not normalize it. */
export function call(port: number, path: string, { method = 'GET', headers, body, agent }: Call = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, path, method, headers: headers ?? {}, agent: agent ?? false, timeout: LIMIT_MS },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => (text += part));
        response.on('error', reject);
        const answered = (): void =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        response.on('end', answered);
        // An event stream does not end, so its first chunk counts as the body.
        if (response.headers['content-type']?.startsWith('text/event-stream') === true) {
          response.once('data', () => {
            answered();
            outgoing.destroy();
          });
        }
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${path}: no answer`)));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Returns the body of a 200; throws an Error with any other response. */
export async function text(port: number, path: string, options?: Call): Promise<string> {
  const answer = await call(port, path, options);
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body}`);
  return answer.body;
}

export async function json<T>(port: number, path: string): Promise<T> {
  return JSON.parse(await text(port, path)) as T;
}

/** Writes bytes that need not be HTTP, and reads until the server closes the connection. */
export function rawCall(port: number, bytes: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    socket.setEncoding('utf8');
    socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error(`No answer to ${JSON.stringify(bytes.slice(0, 60))}`)));
    socket.on('data', (part: string) => (received += part));
    // A server that refuses a large request closes before it has read all of it: the answer is there all the same.
    socket.on('error', (error) => (received === '' ? reject(error) : undefined));
    socket.on('close', () => resolve(parse(received)));
  });
}

function parse(received: string): Answer {
  const [head = '', ...rest] = received.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers: IncomingHttpHeaders = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { status: Number(statusLine.split(' ')[1] ?? 0), headers, body: rest.join('\r\n\r\n') };
}
