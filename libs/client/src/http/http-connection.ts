import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';
import { type Clock, LeafError } from '@leaf-ids/core';
import { messageOf, NONCE_HEADER, withinDeadline } from '@leaf-ids/core/internal';
import { ServerFault } from '../servers/server-fault';
import type { ClientToken } from './client-token';

/** Far above the largest response: 10,000 snowflake IDs are 220 kB. */
const MAX_ANSWER_BYTES = 1_048_576;
/** Shorter than the keep-alive of the server, so that no request uses a connection that the server is closing. */
const KEEP_ALIVE_MS = 30_000;
/** A cache between client and server must not respond: it would return the same IDs twice. */
const HEADERS = { accept: 'application/json, application/problem+json', 'cache-control': 'no-store' };
/** What an `Authorization` header can contain: visible ASCII characters and spaces. */
const HEADER_TEXT = /^[\x20-\x7e]*$/;

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  /** The nonce of the request; undefined from a server that does not return nonces. */
  readonly nonce: string | undefined;
  readonly text: string;
}

export interface HttpRequest {
  /** `GET` by default. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path below the base URL, with a query string. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: object;
  /** In place of the token of the connection. */
  readonly token?: ClientToken | undefined;
}

export interface HttpConnectionOptions {
  /** Limit for one request, including the token function and the response body, in milliseconds. */
  readonly timeoutMs: number;
  readonly token?: ClientToken | undefined;
}

/**
 * The connections to one server: one for each concurrent request, kept open for the next. It does not follow redirects,
 * and limits the size and duration of a response. It uses `node:http`, which Bun and Deno have, too.
 */
export class HttpConnection {
  private readonly target: { readonly hostname: string; readonly port: string; readonly agent: Agent };
  private readonly request: typeof request;
  private readonly path: string;
  private readonly pending = new Set<ClientRequest>();
  private closed = false;

  /** @param url base URL of the routes */
  constructor(
    url: URL,
    private readonly options: HttpConnectionOptions,
    private readonly clock: Clock,
  ) {
    const [send, HttpAgent] = url.protocol === 'https:' ? [requestTls, TlsAgent] : [request, Agent];
    const agent = new HttpAgent({ keepAlive: true, timeout: KEEP_ALIVE_MS });
    this.request = send;
    this.target = { hostname: url.hostname.replace(/^\[|\]$/g, ''), port: url.port, agent };
    this.path = url.pathname.replace(/\/+$/, '');
  }

  /** @throws ServerFault when the token or the response is not complete in time; LeafError when there is no token */
  async send({ method = 'GET', path, body, token = this.options.token }: HttpRequest): Promise<HttpAnswer> {
    const { timeoutMs } = this.options;
    const deadline = this.clock.monotonic() + timeoutMs;
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = { ...HEADERS, ...(body && bodyHeaders(text)), ...(await this.authorization(token, deadline)) };
    if (this.closed) throw new ServerFault('no response: the client is closed');
    const sent = this.request({ ...this.target, method, path: this.path + path, headers });
    this.pending.add(sent);
    try {
      const answer = answerTo(sent, text);
      if (await withinDeadline(answer, deadline, this.clock)) return await answer;
      throw new Error(`timed out after ${timeoutMs} ms`);
    } catch (error) {
      sent.destroy();
      throw new ServerFault(`no response: ${messageOf(error)}`, undefined, { cause: error });
    } finally {
      this.pending.delete(sent);
    }
  }

  /** Aborts all requests and closes the connections. */
  close(): void {
    this.closed = true;
    for (const sent of this.pending) sent.destroy();
    this.target.agent.destroy();
  }

  private async authorization(token: ClientToken | undefined, deadline: number): Promise<Record<string, string>> {
    if (token === undefined) return {};
    const value = typeof token === 'string' ? token : await this.call(token, deadline);
    // Otherwise `node:http` would throw a TypeError.
    if (!HEADER_TEXT.test(value)) {
      throw new LeafError('LEAF_UNAUTHORIZED', 'The token contains characters that a header cannot contain.');
    }
    return { authorization: `Bearer ${value}` };
  }

  private async call(token: () => string | Promise<string>, deadline: number): Promise<string> {
    try {
      const value = (async () => await token())();
      if (await withinDeadline(value, deadline, this.clock)) return await value;
    } catch (cause) {
      // The message of the cause can contain a secret: it is not repeated here.
      throw new LeafError('LEAF_UNAUTHORIZED', 'The token function failed. See the cause of this error.', { cause });
    }
    throw new ServerFault(`no request: the token function did not answer within ${this.options.timeoutMs} ms`);
  }
}

/** Node.js sends no Content-Length with the body of a DELETE by itself. */
function bodyHeaders(text: string): Record<string, string> {
  return { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
}

/** Sends the request and reads the response. */
function answerTo(sent: ClientRequest, body: string): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => {
      const parts: Buffer[] = [];
      let size = 0;
      response.on('error', reject);
      // After `end`, this changes nothing.
      response.on('close', () => reject(new Error('the connection was closed within the response')));
      response.on('data', (part: Buffer) => {
        size += part.length;
        if (size > MAX_ANSWER_BYTES) reject(new Error(`the response exceeds ${MAX_ANSWER_BYTES} bytes`));
        else parts.push(part);
      });
      response.on('end', () => resolve(toAnswer(response, Buffer.concat(parts).toString())));
    });
    sent.end(body);
  });
}

function toAnswer({ statusCode = 0, headers }: IncomingMessage, text: string): HttpAnswer {
  return {
    status: statusCode,
    contentType: headers['content-type'] ?? '',
    retryAfter: headers['retry-after'],
    nonce: only(headers[NONCE_HEADER]),
    text,
  };
}

function only(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
