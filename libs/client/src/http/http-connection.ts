import { Pool } from 'undici';
import { type Clock, messageOf, NONCE_HEADER } from '@leaf-ids/core';
import { ServerFault } from '../servers/server-fault';

/** Far above the largest answer: 10,000 snowflake IDs are 220 kB. */
const MAX_ANSWER_BYTES = 1_048_576;
/** A kept connection shall not be one that the server is just closing. */
const KEEP_ALIVE_MS = 30_000;
/** No cache between client and server may answer: it would give the same IDs twice. */
const HEADERS = { accept: 'application/json, application/problem+json', 'cache-control': 'no-store' };

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  /** Of the request that it answers; undefined from a server that does not repeat nonces. */
  readonly nonce: string | undefined;
  readonly text: string;
}

export interface HttpConnectionOptions {
  /** Most connections to the server. */
  readonly connections: number;
  /** For one request, from its begin to the end of its answer, in milliseconds. */
  readonly timeoutMs: number;
}

/** The connections to one server. Redirects are not followed; the size of an answer and its time are bounded. */
export class HttpConnection {
  private readonly pool: Pool;
  private readonly path: string;

  /** @param url where the server's routes begin */
  constructor(
    url: URL,
    private readonly options: HttpConnectionOptions,
    private readonly clock: Clock,
  ) {
    this.path = url.pathname.replace(/\/+$/, '');
    this.pool = new Pool(url.origin, {
      connections: options.connections,
      connect: { timeout: options.timeoutMs },
      // The whole request has one limit, kept here by the clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxResponseSize: MAX_ANSWER_BYTES,
    });
  }

  /** @throws ServerFault when there is no whole answer in time */
  async get(path: string): Promise<HttpAnswer> {
    const alarm = new AbortController();
    const answered = new AbortController();
    void this.ring(alarm, answered.signal);
    try {
      const { statusCode, headers, body } = await this.pool.request({
        method: 'GET',
        path: this.path + path,
        headers: HEADERS,
        signal: alarm.signal,
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
      throw new ServerFault(`no answer: ${messageOf(error)}`, undefined, { cause: error });
    } finally {
      answered.abort(null);
    }
  }

  /** Ends all requests and connections. */
  close(): Promise<void> {
    return this.pool.destroy();
  }

  private async ring(alarm: AbortController, answered: AbortSignal): Promise<void> {
    const { timeoutMs } = this.options;
    await this.clock.sleep(timeoutMs, answered);
    if (!answered.aborted) alarm.abort(new Error(`nothing within ${timeoutMs} ms`));
  }
}

function only(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
