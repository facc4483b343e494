import { Pool } from 'undici';
import { type Clock, LeafError } from '@leaf-ids/core';
import { messageOf, NONCE_HEADER } from '@leaf-ids/core/internal';
import { ServerFault } from '../servers/server-fault';
import type { ClientToken } from './client-token';

/** Far above the largest response: 10,000 snowflake IDs are 220 kB. */
const MAX_ANSWER_BYTES = 1_048_576;
/** Shorter than the keep-alive of the server, so that no request uses a connection that the server is closing. */
const KEEP_ALIVE_MS = 30_000;
/** A cache between client and server must not respond: it would return the same IDs twice. */
const HEADERS = { accept: 'application/json, application/problem+json', 'cache-control': 'no-store' };

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  /** The nonce of the request; undefined from a server that does not return nonces. */
  readonly nonce: string | undefined;
  readonly text: string;
}

export interface HttpConnectionOptions {
  /** Maximum number of connections to the server. */
  readonly connections: number;
  /** Limit for one request, including the response body, in milliseconds. */
  readonly timeoutMs: number;
  readonly token?: ClientToken | undefined;
}

/** The connections to one server. It does not follow redirects, and limits the size and duration of a response. */
export class HttpConnection {
  private readonly pool: Pool;
  private readonly path: string;

  /** @param url base URL of the routes */
  constructor(
    url: URL,
    private readonly options: HttpConnectionOptions,
    private readonly clock: Clock,
  ) {
    this.path = url.pathname.replace(/\/+$/, '');
    this.pool = new Pool(url.origin, {
      connections: options.connections,
      connect: { timeout: options.timeoutMs },
      // `timeoutMs` limits the whole request.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxResponseSize: MAX_ANSWER_BYTES,
    });
  }

  /** @throws ServerFault when the response is not complete in time; LeafError when there is no token */
  async get(path: string): Promise<HttpAnswer> {
    const sent = await this.headers();
    const timeout = new AbortController();
    const answered = new AbortController();
    void this.limit(timeout, answered.signal);
    try {
      const { statusCode, headers, body } = await this.pool.request({
        method: 'GET',
        path: this.path + path,
        headers: sent,
        signal: timeout.signal,
      });
      const text = await body.text();
      return {
        status: statusCode,
        contentType: only(headers['content-type']) ?? '',
        retryAfter: only(headers['retry-after']),
        nonce: only(headers[NONCE_HEADER]),
        text,
      };
    } catch (error) {
      throw new ServerFault(`no response: ${messageOf(error)}`, undefined, { cause: error });
    } finally {
      answered.abort(null);
    }
  }

  /** Aborts all requests and closes the connections. */
  close(): Promise<void> {
    return this.pool.destroy();
  }

  private async headers(): Promise<Record<string, string>> {
    const { token } = this.options;
    if (token === undefined) return HEADERS;
    try {
      return { ...HEADERS, authorization: `Bearer ${typeof token === 'string' ? token : await token()}` };
    } catch (cause) {
      throw new LeafError('LEAF_UNAUTHORIZED', `The token function failed: ${messageOf(cause)}.`, { cause });
    }
  }

  private async limit(timeout: AbortController, answered: AbortSignal): Promise<void> {
    const { timeoutMs } = this.options;
    await this.clock.sleep(timeoutMs, answered);
    if (!answered.aborted) timeout.abort(new Error(`timed out after ${timeoutMs} ms`));
  }
}

function only(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
